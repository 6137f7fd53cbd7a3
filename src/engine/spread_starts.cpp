#include "engine/spread_starts.hpp"

namespace hocket::engine {

namespace {

/// The number goes through a bijection (the finalizer of splitmix64; Steele, Lea, Flood 2014), so that a
/// communicator's requests never meet.
SpreadGuard::Id id_of(const SpreadGuard::Id& communicator, std::uint32_t request) {
  std::uint64_t mixed = request;
  mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
  return {communicator.origin ^ mixed ^ mixed >> 31U, communicator.members};
}

}  // namespace

SpreadStarts::SpreadStarts(const SpreadGround& ground, std::uint32_t request)
    : ground_(ground), id_(id_of(ground.guard.id(), request)) {}

SpreadOperation& SpreadStarts::unused() {
  if (unused_.empty()) {
    operations_.push_back(std::make_unique<SpreadOperation>(ground_, id_, &unused_));
    unused_.reserve(operations_.size());
    unused_.push_back(operations_.back().get());
  }
  SpreadOperation& operation = *unused_.back();
  unused_.pop_back();
  return operation;
}

/// Blocking calls have the lower half of the numbers.
Outstanding* SpreadStarts::start(const Prepared& prepared, const Call& call) noexcept {
  constexpr std::uint32_t upper_half = 1U << 31U;
  const SpreadGuard::Turn turn{sequence_.next() | upper_half, CallMark::of(prepared.kind)};
  sequence_.add(prepared.signature);
  try {
    SpreadOperation& operation = unused();
    operation.prepare(prepared.path, call, turn, sequence_.history);
    return &operation;
  } catch (...) {  // on this rank alone: the others cannot know, unless they are told
    ground_.guard.fail(turn, Status::no_memory, std::nullopt);
    return nullptr;
  }
}

}  // namespace hocket::engine
