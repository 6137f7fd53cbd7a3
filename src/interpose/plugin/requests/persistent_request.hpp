// A persistent collective that Hocket runs: the request of a call that is described once and started again
// and again.
#pragma once

#include <memory>

#include "interpose/plugin/handles/used_handles.hpp"
#include "interpose/plugin/requests/deferred_frees.hpp"
#include "interpose/plugin/requests/request.hpp"

namespace hocket::interpose {

class PersistentRequest final : public Request {
 public:
  PersistentRequest() : Request(Starts::again) {}
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
    may_stand_aside_ = needs_nobody(*prepared_);
    keep_operation(may_stand_aside_);
  }

  int consume(MPI_Request* handle) noexcept override;
  int activate() noexcept override;
  int forget(MPI_Request* handle) noexcept override;

 private:
  static bool needs_nobody(const engine::Prepared& prepared);
  bool begin();
  bool begin_aside();
  void dispose() noexcept override;

  UsedHandles handles_;
  engine::Function function_ = engine::Function::other;
  bool may_stand_aside_ = false;
  std::unique_ptr<engine::Prepared> prepared_;  ///< with its own numbers of starts
  bool (*start_)(PersistentRequest&) = nullptr;
};

}  // namespace hocket::interpose
