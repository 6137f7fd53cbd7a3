// Which data path is fastest for large messages: tried in turn in the program's own calls, decided by all
// ranks' times together.
//
// No rule written beforehand knows what a machine's caches, kernel and MPI make of a large copy; measured
// here, the order of staging buffers, single copy and the MPI's own call changes with the placement of the
// ranks. A trial belongs to a function and a size class. Its calls are numbered alike on all ranks, so all
// take the same path in the same call. After the last one each rank notes its best times beside its flag
// lines; in a call that comes at least 8 later, everybody reads everybody's notes (as single_copy.hpp
// explains) and comes to the same answer. Only collectives that move data take part: results never depend on
// a clock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/call.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine {

class Trial {
 public:
  static constexpr std::size_t most_paths = transports::shm::TrialNote::paths;

  Trial(Function function, std::uint32_t size_class, std::uint32_t serial, std::size_t paths)
      : function_(function), size_class_(size_class), serial_(serial), paths_(paths) {}

  bool is_for(Function function, std::uint32_t size_class, std::size_t paths) const noexcept {
    return function_ == function && size_class_ == size_class && paths_ == paths;
  }
  /// The path of the next call: the one to try, or the decided one. May wait for a rank that is far behind.
  std::size_t next_path(transports::shm::Channel& channel) noexcept;
  /// Does the call that next_path() was asked for count?
  bool is_trying() const noexcept { return trying_; }
  void note(transports::shm::Channel& channel, std::size_t path, std::uint64_t ns) noexcept;
  bool is_decided() const noexcept { return decided_; }
  std::uint32_t serial() const noexcept { return serial_; }
  /// Another trial has taken its place beside the flag lines: path 0 from now on, on all ranks.
  void give_up() noexcept { decided_ = true; }

 private:
  void read_notes(transports::shm::Channel& channel) noexcept;

  Function function_;
  std::uint32_t size_class_;
  std::uint32_t serial_;
  std::size_t paths_;
  std::uint32_t calls_ = 0;
  bool trying_ = false;
  bool decided_ = false;
  std::uint32_t told_at_ = 0;  ///< all that have finished this instance have left their notes
  std::size_t winner_ = 0;
  std::array<std::uint32_t, most_paths> best_ns_{~0U, ~0U, ~0U};
};

class Trials {
 public:
  /// The trial of a function and size class with so many paths; begun if there is none. Stays where it is.
  Trial& of(Function function, std::size_t bytes, std::size_t paths);

 private:
  std::vector<std::unique_ptr<Trial>> trials_;
};

}  // namespace hocket::engine
