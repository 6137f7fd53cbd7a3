// Looks after long waits on a channel: dead peers, calls that do not match those that the MPI runs, stalls.
// The error of a communicator, which its first failing rank writes for all, is in one place for all of its
// channels: whatever is under way on any of them ends with it.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "engine/call_marks.hpp"
#include "engine/engine.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine {

/// Gives a communicator up, with the text that compose() returns for all ranks' error: once, by whoever is
/// first.
template <class Compose>
void post_failure(transports::shm::Header& header, Compose compose) noexcept {
  std::uint32_t none = 0;
  if (!header.failed.compare_exchange_strong(none, 1)) return;
  try {
    const std::string text = compose();
    header.error_text[text.copy(header.error_text.data(), header.error_text.size() - 1)] = '\0';
  } catch (...) {
    std::strcpy(header.error_text.data(), "a collective failed");
  }
  header.failed.store(2, std::memory_order_release);
}

/// That text. Waits while another rank is writing it: for all of its work, however late that one gets a core.
std::string posted_failure(const transports::shm::Header& header, double seconds = 5);

class Guard final : public transports::Watch {
 public:
  /// `failures`: where the communicator's error is.
  Guard(Engine& engine, std::span<const Rank> members, transports::shm::Header& failures)
      : engine_(engine), members_(members), failures_(failures) {}
  void watch(transports::shm::Channel& channel) {
    channel_ = &channel;
    calls_.watch(channel);
  }
  /// Its calls come in one order with those of the watched one.
  void watch_beside(transports::shm::Channel& channel) { calls_.watch_beside(channel); }

  Status look(Rank peer, std::uint64_t waited_ns) noexcept override;

  /// Notes the communicator as given up in the call of this number, and composes the text, unless another
  /// rank has done so.
  void fail(std::uint32_t call, Status status, const std::string& detail = {}) noexcept;
  /// The same with a text of its own.
  void fail(const std::string& text) noexcept;
  /// The same if this peer, without which the call cannot go on, has ended. False: it has not.
  bool fail_with_dead(Rank peer, std::uint32_t call) noexcept;
  bool failed() const noexcept { return failures_.failed.load(std::memory_order_relaxed) != 0; }
  std::string error() const { return posted_failure(failures_); }
  transports::shm::Header& failures() const noexcept { return failures_; }

 private:
  bool has_ended(Rank peer) const noexcept;
  void report_stall(std::uint64_t waited_ns) noexcept;
  std::string explain(std::uint32_t call, Status status, const std::string& detail) const;
  std::string name_of(Rank rank) const;

  Engine& engine_;
  std::span<const Rank> members_;
  transports::shm::Header& failures_;
  transports::shm::Channel* channel_ = nullptr;
  MarkedCalls calls_;
  Rank dead_ = -1;
  Rank gone_ = -1;  ///< has been found to have ended, by the look before
};

}  // namespace hocket::engine
