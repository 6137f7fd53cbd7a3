// Symbolic values of the verifier: leaf(rank, chunk) or fold(left, right). Equal expressions have equal ids
// (hash consing).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/collective.hpp"

namespace hocket::ir {

using Value = std::uint32_t;
inline constexpr Value undefined = 0;

class Expressions {
 public:
  Expressions(Rank ranks, std::uint32_t chunks)
      : chunks_(chunks), first_fold_(1 + static_cast<std::uint32_t>(ranks) * chunks) {}

  struct Leaf {
    Rank rank;
    std::uint32_t chunk;
    bool operator==(const Leaf&) const = default;
  };

  Value leaf(Rank rank, std::uint32_t chunk) const {
    return 1 + static_cast<std::uint32_t>(rank) * chunks_ + chunk;
  }
  Value fold(Value left, Value right);

  /// From left to right; at most `most` of them (an expression may have exponentially many).
  std::vector<Leaf> leaves(Value value, std::size_t most) const;
  /// The leaves, "0:3 + 1:3 + 2:3": rank:chunk.
  std::string to_text(Value value) const;
  std::size_t size() const { return folds_.size(); }

 private:
  struct Fold {
    Value left, right;
  };
  bool is_leaf(Value value) const { return value < first_fold_; }
  Leaf leaf_of(Value value) const {
    return {static_cast<Rank>((value - 1) / chunks_), (value - 1) % chunks_};
  }

  std::uint32_t chunks_;
  Value first_fold_;
  std::vector<Fold> folds_;
  std::unordered_map<std::uint64_t, Value> known_;
};

}  // namespace hocket::ir
