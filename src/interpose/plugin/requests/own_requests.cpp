#include "interpose/plugin/requests/own_requests.hpp"

#include <vector>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/lifecycle.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {

std::atomic<std::uint32_t> own_request_count{0};
HandleTable<Request>& own_requests = *new HandleTable<Request>;

// The world model has a communicator that is always there. Open MPI refuses arrays with requests of different
// sessions, so that beside a session's communicators those of the world do not do.
bool tokens_last() noexcept {
#if defined(HOCKET_ABI_OMPI)
  return process.world && !sessions_remain();
#else
  return process.world;
#endif
}

// From MPI_PROC_NULL would do as well, but for Intel MPI, which takes it for a complete one before it is
// started.
static int make_token(MPI_Comm comm, int self, MPI_Request* token) {
  return host().Recv_init(nullptr, 0, MPI_BYTE, self, 0, comm, token);
}

int give_token(std::unique_ptr<Request> request, const Communicator& c) {
  const bool lasts = tokens_last();
  MPI_Request token;
  const int code = lasts ? make_token(MPI_COMM_SELF, 0, &token) : make_token(c.handle, c.rank, &token);
  if (code != MPI_SUCCESS) return code;
  request->set_token(token, lasts);
  own_requests.insert(bits_of(token), std::move(request));
  own_request_count.fetch_add(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

std::unique_ptr<Request> take_token(MPI_Request token) {
  std::unique_ptr<Request> request = own_requests.take(bits_of(token));
  if (request) own_request_count.fetch_sub(1, std::memory_order_relaxed);
  return request;
}

template <class Predicate>
static std::vector<std::unique_ptr<Request>> take_tokens(Predicate goes) {
  auto requests = own_requests.take_all(goes);
  own_request_count.fetch_sub(static_cast<std::uint32_t>(requests.size()), std::memory_order_relaxed);
  return requests;
}

void free_tokens_on(const Communicator& c) {
  const auto goes = [&](const Request& r) {
    return !r.has_lasting_token() && &r.communicator() == &c && (!r.is_active() || r.is_over());
  };
  for (const auto& request : take_tokens(goes)) {
    MPI_Request token = request->token();
    host().Request_free(&token);
  }
}

int refuse_request() noexcept {
  return process.world ? raise_class(MPI_COMM_SELF, MPI_ERR_REQUEST) : MPI_ERR_REQUEST;
}

void forget_persistent_requests() {
  take_tokens([](const Request& r) { return r.is_persistent(); });
}

}  // namespace hocket::interpose
