// What a communicator does with calls of one kind: decided once, from what all ranks know alike, then looked
// up.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/call.hpp"
#include "engine/path.hpp"
#include "engine/trials.hpp"

namespace hocket::engine {

/// What a decision depends on.
struct CallKind {
  Function function = Function::other;
  Form form = Form::blocking;  ///< not part of the hash: forms share their numbers, and count separately
  std::uint8_t operation = 0;
  std::uint8_t element_type = 0;  ///< as in a Reduction; not part of the hash
  bool commutative = true;
  Rank root = 0;
  std::size_t bytes = 0;          ///< agreed
  std::size_t largest_block = 0;  ///< agreed; 0 where no size is known
  std::size_t element_bytes = 1;
  bool operator==(const CallKind&) const = default;

  std::size_t hash() const noexcept {
    std::size_t h = bytes * 0x9e3779b97f4a7c15U + largest_block;
    h ^= static_cast<std::size_t>(function) << 3U ^ static_cast<std::size_t>(root) << 9U ^
         static_cast<std::size_t>(operation) << 20U;
    return (h * 0x9e3779b97f4a7c15U) >> 32U;
  }
};

struct Decision {
  CallKind kind;
  std::uint32_t generation = 0;  ///< of its slot: grows when another kind takes it
  Call call;                     ///< the last one, for repetitions
  bool known = false;
  bool provisional = false;  ///< made before it was known whether single copy holds
  std::uint32_t signature = 0;
  Path path;               ///< the one that the rules chose, or that has won its trial
  Trial* trial = nullptr;  ///< until it is decided: which of these is fastest
  std::array<Path, Trial::most_paths> tried;
};

/// Direct-mapped: a collision only costs deciding again. When a slot was used last is not known: a call that
/// is repeated is not looked up (Communicator::repeat). What takes long to make, plans, is given up by last
/// use (plans.hpp, prepared.hpp). Slots are made when first needed and stay where they are.
class Decisions {
 public:
  /// Null until made.
  Decision* find(const CallKind& kind) const noexcept { return slots_[place_of(kind)].get(); }
  Decision& make(const CallKind& kind) {
    auto& slot = slots_[place_of(kind)];
    if (!slot) slot = std::make_unique<Decision>();
    return *slot;
  }

 private:
  static constexpr std::size_t places = 128;
  static std::size_t place_of(const CallKind& kind) noexcept { return kind.hash() % places; }

  std::array<std::unique_ptr<Decision>, places> slots_;
};

}  // namespace hocket::engine
