// One connection of this worker process to one process: an endpoint of UCX, and what has become of it.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace hocket::worker {

class UcxConnection {
 public:
  enum class State {
    open,
    lost,    ///< no good any more; its endpoint is to be closed, or being closed
    closed,  ///< nothing goes through it, and nothing of this process's memory is read or written for it
  };

  UcxConnection() = default;
  UcxConnection(const UcxConnection&) = delete;
  UcxConnection& operator=(const UcxConnection&) = delete;

  /// To the process with this address, which may be this one. UCX connects when there is something to send.
  /// With errors, it calls `on_error` from inside of itself, where nothing is closed; without (empty), who
  /// sends to a process that has died may wait for ever. Outlived by the UCX worker, unless that is left as
  /// it is. Throws Error.
  void open(ucp_worker_h worker, std::span<const std::byte> address, std::function<void()> on_error);

  State state() const noexcept { return state_; }
  /// UCX itself has found it broken, as when the process has died.
  bool has_failed() const noexcept { return has_failed_; }
  /// Null: it is no good.
  ucp_ep_h endpoint() const noexcept { return state_ == State::open ? endpoint_ : nullptr; }
  /// Names of UCX, as "tcp/eth0"; "nothing" where there is no endpoint.
  std::string transports() const;

  void lose() noexcept {
    if (state_ == State::open) state_ = State::lost;
  }
  /// One that is lost: begins to close it, and says whether it is closed.
  bool close() noexcept;
  /// Has all sent that there is to send; an open one.
  void start_flushing() noexcept;
  /// Flushing or closing, with success or not.
  bool is_done() noexcept;

 private:
  static void on_error(void* connection, ucp_ep_h endpoint, ucs_status_t status);
  void start_closing() noexcept;

  ucp_ep_h endpoint_ = nullptr;
  State state_ = State::open;
  bool has_failed_ = false;
  void* request_ = nullptr;  ///< UCX's, while the endpoint is flushed or closed
  std::function<void()> on_error_;
};

}  // namespace hocket::worker
