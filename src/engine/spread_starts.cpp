#include "engine/spread_starts.hpp"

namespace hocket::engine {

SpreadStarts::SpreadStarts(const SpreadGround& ground, Rank rank, std::uint32_t request)
    : ground_(ground),
      id_(id_of_starts(ground.guard.id(), request)),
      leaders_(leaders_of(ground, id_, aggregation::LeaderGroups::Kind::started, rank)) {}

SpreadOperation& SpreadStarts::unused() {
  if (unused_.empty()) {
    operations_.push_back(
        std::make_unique<SpreadOperation>(ground_, id_, leaders_ ? &*leaders_ : nullptr, &unused_));
    unused_.reserve(operations_.size());
    unused_.push_back(operations_.back().get());
  }
  SpreadOperation& operation = *unused_.back();
  unused_.pop_back();
  return operation;
}

Outstanding* SpreadStarts::start(const Prepared& prepared, const Call& call) noexcept {
  const SpreadGuard::Turn turn{sequence_.next_start(), CallMark::of(prepared.kind)};
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
