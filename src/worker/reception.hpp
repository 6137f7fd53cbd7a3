// Where the ranks of a node find their worker: the door, and a desk for each of them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/handover/desks.hpp"
#include "engine/handover/door.hpp"
#include "ir/collective.hpp"
#include "worker/naps.hpp"
#include "worker/own_cpus.hpp"

namespace hocket::worker {

struct Employment {
  engine::handover::Entrance entrance;
  std::uint32_t desks = 1;  ///< local ranks
  pid_t employer = 0;       ///< who is waited for until a rank has come
  std::string version;
  double stall_seconds = 0;    ///< after which who does not answer is suspected; 0: never
  std::size_t idle_bytes = 0;  ///< of a rank's mirrors that are not in use; 0: by the machine's memory
  OwnCpus cpus{};              ///< none: ranks are served elsewhere
};

class Reception {
 public:
  /// A rank that has come to a desk.
  struct Guest {
    std::uint32_t desk;
    ir::Rank rank;  ///< in the world, as it says
    pid_t process;
  };

  /// Throws Error.
  explicit Reception(const Employment& employment);

  /// From now on there is a worker, that others reach there, or (empty) not at all. Throws Error.
  void open(std::span<const std::byte> address, std::string_view why_alone);

  /// Lets in who is at the door. Those who have come to a desk since, and whose memory can be read: who
  /// cannot be reached is told why.
  std::vector<Guest> newcomers();
  void accept(std::uint32_t desk) noexcept;
  /// errno of what keeps it from being served; 0: it has said what no rank says.
  void refuse(std::uint32_t desk, int error);
  /// By a process that lives, and has not closed the desks.
  bool is_taken(std::uint32_t desk) const noexcept { return desks_.is_taken(desk); }

  engine::handover::Desk& desk(std::uint32_t index) const noexcept { return desks_.desk(index); }
  void beat() noexcept { desks_.header().pulse.fetch_add(1, std::memory_order_relaxed); }
  void say_connected() noexcept { desks_.header().connected.store(1, std::memory_order_release); }

  /// Somebody may still come, or is there without being served.
  bool is_needed() noexcept;

  // For who rests.
  /// Before the commands are read: what is told meanwhile is not slept over.
  void hear_doorbell() noexcept;
  /// Until a rank has told something, or the other alarm rings; no longer than until the next look around,
  /// and not at all when something has just been told that no network has to answer.
  void rest(const Alarm& other) noexcept;

 private:
  bool is_attentive() const noexcept;

  engine::handover::Desks desks_;
  engine::handover::Door door_;
  const pid_t employer_;
  const std::uint64_t employer_started_;
  std::vector<std::uint32_t> empty_;    ///< desks that nobody has taken
  std::vector<std::uint32_t> refused_;  ///< of living ranks that are not served
  bool had_ranks_ = false;
  std::uint32_t heard_ = 0;    ///< of what was told
  std::uint64_t told_ns_ = 0;  ///< when that was
};

}  // namespace hocket::worker
