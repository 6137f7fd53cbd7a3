// All ranks' schedules of one operation, checked to be well formed: indices and windows hold, every send has
// its recv, and every aggregation all of its members. What the verifier and the reference interpreter step
// through.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ir/schedule.hpp"

namespace hocket::ir {

/// How much the ranks know of block sizes (see algorithms::Blocks).
enum class Sizes : std::uint8_t {
  own,    ///< gatherv, scatterv, alltoallv: a rank knows its own blocks
  known,  ///< all ranks know all blocks; blocks differ
  equal,  ///< all blocks have one size
};

using MessageId = std::uint32_t;
using AggregationId = std::uint32_t;

class Program {
 public:
  /// Throws hocket::Error that names rank, round, op and region. The schedules outlive the program.
  Program(std::span<const Schedule> schedules, Sizes sizes, bool in_place);

  Rank ranks() const { return static_cast<Rank>(schedules_.size()); }
  const Schedule& of(Rank rank) const { return schedules_[rank]; }
  const Op& op(Place p) const { return of(p.rank).ops[p.op]; }
  std::uint32_t chunks() const { return schedules_.front().chunks; }
  Collective collective() const { return schedules_.front().collective; }

  std::uint32_t messages() const { return messages_; }
  /// Of a send or recv.
  MessageId message(Place p) const { return number_of_op_[first_op_[p.rank] + p.op]; }

  std::uint32_t aggregations() const { return static_cast<std::uint32_t>(starts_.size()); }
  /// Of an aggregate or settle.
  AggregationId aggregation(Place p) const { return number_of_op_[first_op_[p.rank] + p.op]; }
  /// Where each member starts it, in the group's order.
  std::span<const Place> starts(AggregationId id) const { return starts_[id]; }
  /// Which of the members a rank is.
  std::size_t member(AggregationId id, Rank rank) const;

  Window input(Rank rank) const;
  Window output(Rank rank) const;
  /// Input and output chunk are the same memory.
  bool aliased(Rank rank, std::uint32_t chunk) const;
  /// Is chunk n of this buffer, planes counted, there on that rank?
  bool exists(Rank rank, Buffer buffer, std::uint32_t n) const;

  [[noreturn]] void fail(Place p, const std::string& what) const;
  std::uint32_t round_of(Place place) const;
  /// "rank 3, round 1, op 5 (signal 2)"
  std::string name_of(Place p) const;

 private:
  void check_header(const Schedule& s, Rank rank) const;
  void check_groups(const Schedule& s) const;
  void check_op(Place p) const;
  void check_pieces(Place p) const;
  void check_sources(Place p) const;
  void check_region(Place p, const Region& r) const;
  void check_size_known(Place p, const Region& r, std::uint32_t n) const;
  void match_messages();
  void check_message(Place sender, Place receiver) const;
  void check_aggregate(Place p) const;
  void match_aggregations();
  void check_members(AggregationId id) const;
  void match_settles(Rank rank);
  /// Two chunks with the same number have the same size in bytes.
  std::uint64_t size_identity(Rank runs, const Region& r, std::uint32_t n) const;

  std::span<const Schedule> schedules_;
  Sizes sizes_;
  bool in_place_;
  std::vector<std::size_t> first_op_;
  std::vector<std::uint32_t> number_of_op_;  ///< of its message or aggregation
  std::uint32_t messages_ = 0;
  std::vector<std::vector<Place>> starts_;
};

}  // namespace hocket::ir
