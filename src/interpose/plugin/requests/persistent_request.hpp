// A persistent collective that Hocket runs: the request of a call that is described once and started again
// and again.
//
// The MPI request that stands for it is a persistent one of the MPI's own, which is never started. So the MPI
// always sees an inactive request, which all its functions ignore: only what they would say of an active one
// is said by Hocket (persistent_completion.cpp). It is one of point-to-point: inactive persistent collectives
// hang in MPICH's MPI_Waitall (5.0) and in all its waits (4.0).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "interpose/plugin/handles/handle_table.hpp"
#include "interpose/plugin/handles/used_handles.hpp"
#include "interpose/plugin/requests/deferred_frees.hpp"
#include "interpose/plugin/requests/request.hpp"

namespace hocket::interpose {

class PersistentRequest final : public Request {
 public:
  PersistentRequest() = default;
  ~PersistentRequest() override;

  /// The call that is held, of type Described, what was decided for it, and the program's handles that it
  /// uses: all stay. Throws std::bad_alloc.
  template <class Described>
  void keep(const Described& described, std::unique_ptr<engine::Prepared> prepared) {
    handles_ = described.handles();
    add_user_of(handles_);
    prepared_ = std::move(prepared);
    ++communicator().persistent_requests;
    start_ = [](PersistentRequest& self) { return self.start<Described>(*self.prepared_); };
    function_ = Described::function;
  }

  bool is_active() const { return state_.load(std::memory_order_relaxed) != State::inactive; }
  /// Active, and complete: deactivate() is due.
  bool is_over() const { return state_.load(std::memory_order_acquire) == State::over; }

  /// An MPI error code. It is inactive.
  int activate() noexcept;
  /// It is over. Returns its error code.
  int deactivate() noexcept;

 private:
  enum class State : std::uint8_t { inactive, under_way, over };

  void tell() noexcept override;
  bool begin();

  std::atomic<State> state_{State::inactive};
  UsedHandles handles_;
  engine::Function function_ = engine::Function::other;
  std::unique_ptr<engine::Prepared> prepared_;  ///< with its own numbers of starts
  bool (*start_)(PersistentRequest&) = nullptr;
};

/// By the MPI's handle.
extern HandleTable<PersistentRequest>& persistent_requests;
extern std::atomic<std::uint32_t> persistent_request_count;

inline bool is_any_persistent() {
  return persistent_request_count.load(std::memory_order_relaxed) != 0;
}
inline PersistentRequest* find_persistent(MPI_Request handle) {
  return is_any_persistent() ? persistent_requests.value_of(bits_of(handle)) : nullptr;
}
/// One that has been started, and not been waited for since. Null: the MPI's own answers are right.
inline PersistentRequest* find_active(MPI_Request handle) {
  PersistentRequest* request = find_persistent(handle);
  return request && request->is_active() ? request : nullptr;
}

/// The MPI's request, of which nothing but the handle is ever used. An MPI error code.
int make_token(const Communicator& communicator, MPI_Request* handle);
/// Throws std::bad_alloc.
void remember_persistent(MPI_Request handle, std::unique_ptr<PersistentRequest> request);
/// The program frees it. An active one ends first, which nobody waits for.
void forget_persistent(MPI_Request handle);
/// MPI ends.
void forget_all_persistent();

}  // namespace hocket::interpose
