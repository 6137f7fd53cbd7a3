#include "interpose/plugin/requests/own_requests.hpp"

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/nonblocking_request.hpp"

namespace hocket::interpose {

std::atomic<std::uint32_t> own_request_count{0};
HandleTable<Request>& own_requests = *new HandleTable<Request>;

// From MPI_PROC_NULL would do as well, but for Intel MPI, which takes it for a complete one before it is
// started.
int give_token(std::unique_ptr<Request> request, MPI_Comm comm, int self) {
  MPI_Request token;
  if (const int code = host().Recv_init(nullptr, 0, MPI_BYTE, self, 0, comm, &token); code != MPI_SUCCESS)
    return code;
  request->set_token(token);
  own_requests.insert(bits_of(token), std::move(request));
  own_request_count.fetch_add(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

std::unique_ptr<Request> take_token(MPI_Request token) {
  std::unique_ptr<Request> request = own_requests.take(bits_of(token));
  if (request) own_request_count.fetch_sub(1, std::memory_order_relaxed);
  return request;
}

void forget_all_requests() {
  free_unused_requests();
  own_requests.clear();
  own_request_count = 0;
}

}  // namespace hocket::interpose
