// Operations of one kind that are used again: what they have grown to stays.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hocket::engine {

/// `Operation`: made from a ground and its place among all that the pool has made, which place() returns.
template <class Operation>
class OperationPool {
 public:
  /// The oldest one that is not in use: a program that repeats itself finds the same ones in each turn, which
  /// have grown to what they need then. Throws std::bad_alloc.
  template <class Ground>
  Operation& take(Ground& ground) {
    for (std::size_t word = 0; word < unused_.size(); ++word)
      if (unused_[word] != 0) return take_first_of(word);
    return make(ground);
  }

  void give_back(Operation& operation) noexcept {
    const std::size_t place = operation.place();
    unused_[place / places] |= std::uint64_t{1} << place % places;
  }

 private:
  static constexpr std::size_t places = 64;  ///< in a word

  Operation& take_first_of(std::size_t word) noexcept {
    const auto bit = static_cast<std::size_t>(std::countr_zero(unused_[word]));
    unused_[word] &= unused_[word] - 1;
    return *all_[word * places + bit];
  }

  template <class Ground>
  Operation& make(Ground& ground) {
    unused_.resize(all_.size() / places + 1);
    all_.push_back(std::make_unique<Operation>(ground, all_.size()));
    return *all_.back();
  }

  std::vector<std::unique_ptr<Operation>> all_;
  std::vector<std::uint64_t> unused_;  ///< one bit for each place
};

}  // namespace hocket::engine
