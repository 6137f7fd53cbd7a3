// How the ranks of a job get to the desks of their node's worker: an abstract Unix socket, whose name and
// secret hocket-exec has made up and given to the worker and to local rank 0, in its environment. Who
// connects has to have the same user and to know the secret; the name alone can be seen by everybody.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "engine/handover/desks.hpp"

namespace hocket::engine::handover {

/// Of a node (launcher/start_worker.c).
inline constexpr std::size_t most_workers = 16;

/// HOCKET_WORKER=NAME:SECRET, each of 32 hexadecimal digits.
struct Entrance {
  static constexpr std::size_t digits = 32;
  std::array<char, digits> name{};
  std::array<char, digits> secret{};
  bool operator==(const Entrance&) const = default;

  std::string address() const { return "hocket-worker-" + std::string(name.data(), name.size()); }
};

/// Nothing: the text is none.
std::optional<Entrance> parse_entrance(std::string_view text) noexcept;
/// Of all workers of a node, with commas between them. Empty: the text is none.
std::vector<Entrance> parse_entrances(std::string_view text);

/// The worker's side. Never blocks.
class Door {
 public:
  /// Throws Error if it cannot listen there.
  explicit Door(const Entrance& entrance);
  /// Lets in all who have come and may: they get the right to the files of these desks. Returns how many.
  /// Where too many say nothing, those who have been silent for longest go.
  int serve(const Desks& desks);

 private:
  struct Visitor {
    Descriptor socket;
    Deadline until;
  };
  bool is_called() const noexcept;
  bool let_in_next();
  bool is_over(Visitor& visitor, const Desks& desks, int& admitted) const;

  static constexpr std::size_t most_visitors = 256;  ///< a process may have 1024 descriptors, mostly
  static constexpr double patience_seconds = 10;
  const Entrance entrance_;
  Descriptor listener_;
  std::list<Visitor> visitors_;  ///< who have not said anything yet, the oldest first
};

/// A rank; waits for the worker no longer than that. Throws Error with the reason.
DeskFiles enter(const Entrance& entrance, double seconds);

}  // namespace hocket::engine::handover
