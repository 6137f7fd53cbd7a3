// What spares the directory of slots from looking at all its entries. Both records are in shared memory,
// empty when zero, and changed under the directory's lock.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hocket::engine {

/// Which entries may claim memory. Said before an entry does and taken back after: whoever dies in between
/// leaves a bit too many, never one too few.
template <std::size_t entries>
class Occupancy {
 public:
  void set(std::size_t entry) { words_[entry / 64] |= bit(entry); }
  void clear(std::size_t entry) { words_[entry / 64] &= ~bit(entry); }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t word = 0; word < words_.size(); ++word)
      for (std::uint64_t rest = words_[word]; rest; rest &= rest - 1)
        visit(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }

 private:
  static std::uint64_t bit(std::size_t entry) { return std::uint64_t{1} << entry % 64; }

  std::array<std::uint64_t, entries / 64> words_;
};

/// The entries of idle slots, oldest first.
class IdleList {
 public:
  static constexpr std::uint32_t capacity = 64;
  static constexpr std::uint32_t none = ~0U;

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == capacity; }
  std::uint64_t pages() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < count_; ++i) sum += slots_[i].pages;
    return sum;
  }

  void add(std::uint32_t entry, std::uint32_t pages) { slots_[count_++] = {entry, pages}; }
  /// Takes the youngest of this size off the list: its memory is the most likely to be in a cache.
  std::uint32_t take(std::uint64_t pages) {
    for (std::uint32_t i = count_; i-- > 0;)
      if (slots_[i].pages == pages) return take_at(i);
    return none;
  }
  std::uint32_t take_oldest() { return take_at(0); }
  void clear() { count_ = 0; }

 private:
  struct IdleSlot {
    std::uint32_t entry, pages;
  };

  std::uint32_t take_at(std::uint32_t place) {
    const std::uint32_t entry = slots_[place].entry;
    for (--count_; place < count_; ++place) slots_[place] = slots_[place + 1];
    return entry;
  }

  std::uint32_t count_;
  std::array<IdleSlot, capacity> slots_;
};

}  // namespace hocket::engine
