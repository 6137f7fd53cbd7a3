// Which data path is fastest for large messages: tried in turn in the program's own calls, decided by all
// ranks' times together.
//
// No rule written beforehand knows what a machine's caches, kernel and MPI make of a large copy; measured
// here, the order of staging buffers, single copy and the MPI's own call changes with the placement of the
// ranks. A trial belongs to a function and a size class. Its calls are numbered alike on all ranks, so all
// take the same path in the same call. After a series each rank notes its mean times beside its flag lines;
// some calls later everybody reads everybody's notes (transports/shm/notice.hpp) and
// comes to the same answer. A second series, much later, confirms or corrects it. Only collectives that move
// data take part: results never depend on a clock. docs/design/0006-trials.md says how often this errs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/call.hpp"
#include "transports/shm/notice.hpp"

namespace hocket::engine {

class Trial {
 public:
  static constexpr std::size_t most_paths = transports::shm::TrialNote::paths;
  static constexpr std::uint32_t rounds = 8;                  ///< every path is tried so often in a series
  static constexpr std::uint32_t calls_between_series = 256;  ///< not of the same slow moment of a machine

  Trial(Function function, std::uint32_t size_class, std::uint32_t serial, std::size_t paths)
      : function_(function), size_class_(size_class), serial_(serial), paths_(paths), contenders_(paths) {}

  bool is_for(Function function, std::uint32_t size_class, std::size_t paths) const noexcept {
    return function_ == function && size_class_ == size_class && paths_ == paths;
  }
  /// The path of the next call: the one to try, or the best known. May wait for a rank that is far behind.
  std::size_t next_path(transports::shm::Channel& channel) noexcept;
  /// Does the call that next_path() was asked for count?
  bool is_trying() const noexcept { return trying_; }
  void note(transports::shm::Channel& channel, std::size_t path, std::uint64_t ns) noexcept;
  bool is_decided() const noexcept { return decided_; }
  /// Series that have been judged: by them, the best path that is known.
  std::uint32_t judged() const noexcept { return series_; }
  std::size_t winner() const noexcept { return winner_; }
  /// Another trial takes its place beside the flag lines: what is known so far holds, on all ranks.
  void give_up() noexcept { decided_ = true; }

 private:
  using Times = std::array<std::uint32_t, rounds>;

  bool is_series_over() const noexcept { return tried_ == rounds * contenders_; }
  std::size_t take_place() noexcept;
  std::uint32_t sorted_mean_of(std::size_t path) noexcept;
  void leave_note(transports::shm::Channel& channel) noexcept;
  void judge(transports::shm::Channel& channel) noexcept;
  void add_slowest(transports::shm::Channel& channel) noexcept;
  std::size_t fastest() const noexcept;
  void keep_contenders() noexcept;

  Function function_;
  std::uint32_t size_class_;
  std::uint32_t serial_;
  std::size_t paths_;
  std::size_t contenders_;  ///< so many are still tried
  std::array<std::uint8_t, most_paths> contender_{0, 1, 2};
  std::uint32_t series_ = 0;
  std::uint32_t tried_ = 0;  ///< calls in this series
  std::uint32_t rest_ = 0;   ///< calls until the next series
  bool trying_ = false;
  bool decided_ = false;
  transports::shm::Notice begun_;  ///< nobody reads the notes of the trial that had this place before
  transports::shm::Notice noted_;
  std::size_t winner_ = 0;
  std::array<Times, most_paths> times_{};               ///< of this series
  std::array<std::uint64_t, most_paths> slowest_ns_{};  ///< of the slowest rank, all series added up
};

class Trials {
 public:
  /// The trial of a function and size class with so many paths; begun if there is none. Stays where it is.
  Trial& of(Function function, std::size_t bytes, std::size_t paths);
  /// Null: there is none.
  Trial* find(Function function, std::size_t bytes, std::size_t paths) const noexcept;

 private:
  std::vector<std::unique_ptr<Trial>> trials_;
};

}  // namespace hocket::engine
