// All ranks' schedules of one operation, checked to be well formed: indices and windows hold, and every send
// has its recv. What the verifier and the reference interpreter step through.
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

struct Place {
  Rank rank = 0;
  std::uint32_t op = 0;
};

using MessageId = std::uint32_t;

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
  MessageId message(Place p) const { return message_of_op_[first_op_[p.rank] + p.op]; }

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
  void check_op(Place p) const;
  void check_pieces(Place p) const;
  void check_sources(Place p) const;
  void check_region(Place p, const Region& r) const;
  void check_size_known(Place p, const Region& r, std::uint32_t n) const;
  void match_messages();
  void check_message(Place sender, Place receiver) const;
  /// Two chunks with the same number have the same size in bytes.
  std::uint64_t size_identity(Rank runs, const Region& r, std::uint32_t n) const;

  std::span<const Schedule> schedules_;
  Sizes sizes_;
  bool in_place_;
  std::vector<std::size_t> first_op_;
  std::vector<MessageId> message_of_op_;
  std::uint32_t messages_ = 0;
};

}  // namespace hocket::ir
