// All of UCX in one worker process: what it receives with, its connections to every other worker process, and
// which of them have gone. The ports of the ranks that the process serves share it (ucx_port.hpp).
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "worker/fabric.hpp"
#include "worker/ucx_connection.hpp"

namespace hocket::worker {

class UcxFabric final : public Fabric {
 public:
  /// What is sent without asking the receiver, whose answer would wait behind what it sends itself: on links
  /// that both use at once that has cost as long as a full socket takes to leave.
  static constexpr std::size_t unasked_bytes = 300'000;

  /// Throws Error with UCX's reason. Which transports there may be is UCX's own option (UCX_TLS), and
  /// which devices (UCX_NET_DEVICES) where none is given.
  static std::unique_ptr<UcxFabric> open(const std::string& device = {});
  /// Sends what has been sent, to those that take it, and leaves; within seconds, whatever the others do.
  /// All ports have gone.
  ~UcxFabric() override;

  std::span<const std::byte> address() const noexcept override { return address_; }
  void connect(const std::vector<std::vector<std::byte>>& addresses,
               std::vector<std::uint32_t> process_of) override;
  std::unique_ptr<transports::mpi::Port> port(Rank self, Rank ranks) override;

  bool has_lost(Rank rank) const noexcept override {
    return process_of(rank).from.state() != UcxConnection::State::open;
  }
  void lose(Rank rank) noexcept override {
    if (is_other(process_of(rank))) lose(process_of(rank));
  }
  Alarm alarm() noexcept override;
  std::uint64_t moved() const noexcept override { return moved_; }
  bool still_reads() noexcept override;
  /// False: UCX was given up, and everything fails.
  bool is_open() const noexcept { return worker_ != nullptr; }
  std::string carriers() const override;

 private:
  friend class UcxPort;

  /// Two connections, since over one UCX's answers to "may I send" would wait behind the data that go the
  /// other way. This process itself has one, and no errors.
  struct Process {
    UcxConnection to;    ///< what this process sends goes there, and the other's answers come from there
    UcxConnection from;  ///< what the other process sends comes from there
    bool sent_to = false, heard = false;
    std::optional<Deadline> patience;  ///< where `to` has failed alone: until when something may still come
  };
  struct Ends {
    void operator()(ucp_context* context) const noexcept { ucp_cleanup(context); }
    void operator()(ucp_worker* worker) const noexcept { ucp_worker_destroy(worker); }
  };

  explicit UcxFabric(const std::string& device);
  void open_context(const std::string& device);
  void open_worker();
  void read_address();
  std::uint32_t own_among(const std::vector<std::vector<std::byte>>& addresses) const;
  void connect_to(std::size_t index, const std::vector<std::byte>& address);

  // ucx_port.cpp calls these.
  ucp_worker_h worker() const noexcept { return worker_.get(); }
  void progress() noexcept;
  /// To send to this rank; null: one cannot.
  ucp_ep_h endpoint_of(Rank rank) noexcept;
  bool has_gone(Rank rank) const noexcept {
    return process_of(rank).from.state() == UcxConnection::State::closed;
  }
  void note_heard(Rank rank) noexcept { process_of(rank).heard = true; }
  /// Nothing of this process's memory is written from there.
  bool is_cut_off(Rank rank) const noexcept { return has_gone(rank) && process_of(rank).from.has_failed(); }
  /// Ends a receive, from this rank or (-1) from anybody: its memory is not written when this returns.
  void end_receive(void* request, Rank from) noexcept;
  /// A send that was given up.
  void keep_sending(void* request) noexcept;

  Process& process_of(Rank rank) noexcept { return processes_[process_of_[static_cast<std::size_t>(rank)]]; }
  const Process& process_of(Rank rank) const noexcept {
    return processes_[process_of_[static_cast<std::size_t>(rank)]];
  }
  bool is_other(const Process& process) const noexcept { return &process != &processes_[own_]; }
  void lose(Process& process) noexcept;
  void cannot_send_to(Process& process) noexcept;
  void settle(bool nothing_came) noexcept;
  template <class Done>
  bool progress_until(Done done, double seconds) noexcept;
  void flush() noexcept;
  void end() noexcept;
  void give_up() noexcept;

  // in this order: a worker ends before its context
  std::unique_ptr<ucp_context, Ends> context_;
  std::unique_ptr<ucp_worker, Ends> worker_;
  std::vector<std::byte> address_;
  int descriptor_ = -1;                    ///< UCX's, of its alarm
  std::deque<Process> processes_;          ///< which UCX knows by their addresses
  std::vector<std::uint32_t> process_of_;  ///< by rank
  std::uint32_t own_ = 0;
  std::uint64_t moved_ = 0;
  bool any_unsettled_ = false;  ///< a connection is lost and not closed, or has failed alone
  std::vector<void*> given_up_;
  bool forgot_given_up_ = false;  ///< there was no memory to remember one
};

}  // namespace hocket::worker
