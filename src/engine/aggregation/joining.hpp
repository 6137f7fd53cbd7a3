// A group of the network being made. SHARP's library waits for the other members in the middle of it, and a
// call that must not wait may be the first of its communicator: so it is a thread that makes the group, and
// what it has to say to the others goes on wherever the operation does.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "engine/aggregation/member_runs.hpp"
#include "engine/aggregation/spoken.hpp"
#include "offload/tree.hpp"

namespace hocket::engine::aggregation {

class Joining final : private Spoken {
 public:
  /// Of all members. `tree` outlives it.
  Joining(offload::Tree& tree, const offload::Member& self) noexcept;
  /// One that is not over is given up, on all members.
  ~Joining() override;
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;

  /// Pending; ok: it is over; or an error of messages.
  Status advance(MemberRuns& members) noexcept;
  /// Over messages, under way; null: none.
  const executors::Machine* run() const noexcept { return run_; }
  /// Once it is over: the same on all members.
  offload::GroupOrReason& made() noexcept { return made_; }

 private:
  enum State : std::uint32_t {
    waits,    ///< the thread, for all members to have one
    works,    ///< the thread
    asks,     ///< the thread has something to say, and waits until it is said
    is_over,  ///< the thread has ended, or will at once
  };

  Status say(std::string_view algorithm, const executors::Operation& operation) noexcept override;

  static void* run_thread(void* self);
  void make() noexcept;
  void start_thread() noexcept;
  void go_on_thread(State state) noexcept;
  Status tell_of_thread(MemberRuns& members) noexcept;
  Status carry(MemberRuns& members) noexcept;
  Status advance_run() noexcept;

  offload::Tree& tree_;
  const offload::Member self_;
  pthread_t thread_{};
  bool has_thread_ = false;
  std::uint8_t lacks_thread_ = 0, anybody_lacks_thread_ = 0;
  bool all_know_ = false;
  std::atomic<std::uint32_t> state_{waits};
  std::atomic<bool> given_up_{false};
  std::string_view algorithm_;
  executors::Operation operation_;
  Status answer_ = Status::ok;
  executors::Machine* run_ = nullptr;
  offload::GroupOrReason made_;
};

}  // namespace hocket::engine::aggregation
