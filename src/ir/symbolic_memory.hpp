// All ranks' buffers during symbolic execution: the value of each chunk, and who may touch it when.
#pragma once

#include <limits>
#include <vector>

#include "ir/clocks.hpp"
#include "ir/expression.hpp"
#include "ir/program.hpp"

namespace hocket::ir {

/// One chunk of one buffer of one rank; input and output chunks are one location where the operation is in
/// place.
struct Location {
  Rank owner = 0;
  std::size_t cell = 0;
};

class SymbolicMemory {
 public:
  /// Inputs hold their leaves, everything else is undefined.
  SymbolicMemory(const Program& program, const Expressions& expressions);

  Location locate(Rank runs, const Region& region, std::uint32_t n) const;
  Value at(Location l) const { return cells_[l.cell].value; }

  /// The rank's own accesses. They throw hocket::Error when they race with peers or with transfers under way.
  Value load(Place place, const Region& region, std::uint32_t n);
  void store(Place place, const Region& region, std::uint32_t n, Value value);
  Value load_remote(Place place, const Region& region, std::uint32_t n);
  void expose(Place place, const Region& region, std::uint32_t n);

  /// A send reads its pieces, and a recv writes them, at any time from its start to the end of its round; an
  /// aggregation does both until it is settled.
  enum class By : std::uint8_t { message, aggregation };
  Value begin_send(Place place, const Region& region, std::uint32_t n, By by = By::message);
  void begin_recv(Place place, const Region& region, std::uint32_t n, By by = By::message);
  void end_send(Place place, const Region& region, std::uint32_t n);
  void end_recv(Place place, const Region& region, std::uint32_t n, Value value);

  /// An op may write over one of its sources, but not over a part of it shifted by some chunks.
  void check_overlap(Place place, const Region& target, const Region& source) const;

  /// At the end: has every rank waited for those who read what it exposed?
  void check_readers_are_done() const;

  Clocks& clocks() { return clocks_; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr Time being_written = std::numeric_limits<Time>::max();

  struct Cell {
    Value value = undefined;
    Time written = 0;            ///< owner's time
    Time exposed = 0;            ///< owner's time; 0: not exposed
    std::uint32_t reads = none;  ///< list of remote reads since it was written
    std::uint16_t sending = 0;   ///< sends of the current round, and aggregations, that read it
    bool receiving = false;
    By by = By::message;  ///< one of those
  };
  struct Read {
    Place place;
    Time time;
    std::uint32_t next;
  };

  Cell& cell(Place place, const Region& r, std::uint32_t n) { return cells_[locate(place.rank, r, n).cell]; }
  void check_readable(Place place, const Region& region, std::uint32_t n, const Cell& cell) const;
  void check_writable(Place place, const Region& region, std::uint32_t n, Cell& cell) const;

  const Program& program_;
  Clocks clocks_;
  std::vector<std::size_t> first_cell_;
  std::vector<Cell> cells_;
  std::vector<Read> reads_;
  std::vector<std::pair<Location, std::uint32_t>> exposed_reads_;  ///< index into reads_
};

}  // namespace hocket::ir
