#include "interpose/plugin/requests/persistent_request.hpp"

#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/deferred_frees.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

std::atomic<std::uint32_t> persistent_request_count{0};
HandleTable<PersistentRequest>& persistent_requests = *new HandleTable<PersistentRequest>;

PersistentRequest::~PersistentRequest() {
  if (!prepared_) return;
  remove_user_of(handles_);
  prepared_.reset();  // which needs the communicator
  release_persistent_of(communicator());
}

bool PersistentRequest::begin() {
  const std::lock_guard lock(progress_lock);
  if (!start_(*this)) return false;
  state_.store(State::under_way, std::memory_order_relaxed);
  add_under_way(*this);
  return true;
}

int PersistentRequest::activate() noexcept {
  const MPI_Comm comm = communicator().handle;
  try {
    return begin() ? MPI_SUCCESS : raise_error(comm, communicator().engine->error());
  }
  HOCKET_EDGE(engine::Called(function_, engine::Form::persistent))
}

// Whoever completes an abandoned one still looks at it, so it goes later.
void PersistentRequest::tell() noexcept {
  state_.store(State::over, std::memory_order_release);
}

int PersistentRequest::deactivate() noexcept {
  state_.store(State::inactive, std::memory_order_relaxed);
  return code();
}

// From MPI_PROC_NULL would do as well, but for Intel MPI, which takes it for a complete one before it is
// started.
int make_token(const Communicator& c, MPI_Request* handle) {
  return host().Recv_init(nullptr, 0, MPI_BYTE, c.rank, 0, c.handle, handle);
}

void remember_persistent(MPI_Request handle, std::unique_ptr<PersistentRequest> request) {
  persistent_requests.insert(bits_of(handle), std::move(request));
  persistent_request_count.fetch_add(1, std::memory_order_relaxed);
}

namespace {

// Freed by the program while under way. Under the progress lock.
std::vector<std::unique_ptr<PersistentRequest>>& abandoned =
    *new std::vector<std::unique_ptr<PersistentRequest>>;

}  // namespace

static void take_away(MPI_Request handle) {
  const std::lock_guard lock(progress_lock);
  std::erase_if(abandoned, [](const auto& request) { return request->is_over(); });
  std::unique_ptr<PersistentRequest> request = persistent_requests.take(bits_of(handle));
  if (!request) return;
  persistent_request_count.fetch_sub(1, std::memory_order_relaxed);
  if (request->is_active() && !request->is_over()) abandoned.push_back(std::move(request));
}

void forget_persistent(MPI_Request handle) {
  take_away(handle);
  if (!is_anything_under_way()) free_unused(started_count());
}

void forget_all_persistent() {
  abandoned.clear();
  persistent_requests.clear();
  persistent_request_count = 0;
}

}  // namespace hocket::interpose
