#include "engine/nonblocking.hpp"

#include "engine/lane_flat_operation.hpp"
#include "engine/lane_operation.hpp"

namespace hocket::engine {

using algorithms::Access;
using algorithms::Algorithm;
using transports::shm::Lane;

namespace {

// Parts 0 to 2 are the blocking calls' (path_runner.cpp). A communicator's count of persistent requests never
// repeats, so that no request finds another one's memory.
constexpr std::uint32_t lines_part = 3, staging_part = 4, cells_part = 5, parts_of_lane = 3;

SlotKey part_of(const SlotKey& key, std::uint32_t part, std::uint32_t lane) {
  return {key.origin, key.members, part + lane * parts_of_lane};
}

}  // namespace

std::unique_ptr<NonblockingLane> NonblockingLane::open(const Ground& ground, std::uint32_t number) {
  const auto ranks = static_cast<Rank>(ground.members.size());
  const SlotKey lines = part_of(ground.key, lines_part, number);
  Arena& arena = *ground.engine.arena();
  const Slot slot = arena.carve(lines, transports::shm::bytes_for(ranks), ranks);
  if (!slot.memory) return nullptr;
  try {
    return std::unique_ptr<NonblockingLane>(new NonblockingLane(ground, number, slot.memory));
  } catch (...) {
    arena.release(lines);
    throw;
  }
}

NonblockingLane::NonblockingLane(const Ground& ground, std::uint32_t number, std::byte* memory)
    : arena_(*ground.engine.arena()),
      lines_(part_of(ground.key, lines_part, number)),
      guard_(ground.engine, ground.members, ground.guard.failures()),
      lane_(memory, ground.channel.ranks(), ground.channel.rank(),
            {ground.channel.waiting().mode, ground.channel.waiting().poke,
             ground.channel.waiting().poke_context, &guard_, nullptr}),
      single_copy_(ground.single_copy),
      votes_(single_copy_, lane_.channel()),
      peers_(single_copy_.peers()),
      staging_memory_(arena_, part_of(ground.key, staging_part, number)),
      cells_memory_(arena_, part_of(ground.key, cells_part, number)) {
  guard_.watch(lane_.channel());
  if (number == 0) watch_blocking_calls(ground);
}

/// Unlike starts of persistent requests, both come in one order on all ranks.
void NonblockingLane::watch_blocking_calls(const Ground& ground) {
  guard_.watch_beside(ground.channel);
  ground.guard.watch_beside(lane_.channel());
}

NonblockingLane::~NonblockingLane() {
  arena_.release(lines_);
}

bool NonblockingLane::has_memory_for(const Prepared& prepared) {
  const Path& path = prepared.path;
  if (!path.algorithm) return true;
  const Algorithm& algorithm = *path.algorithm;
  const Rank ranks = lane_.channel().ranks();
  if (algorithm.access == Access::two_sided) {
    std::byte* memory = cells_memory_.carve(transports::shm::cells_bytes(ranks), ranks, Content::zeros);
    if (memory && !cells_) make_cells(memory);
    return memory != nullptr;
  }
  return !algorithm.staging ||
         staging_memory_.carve(Lane::staging_bytes(ranks), ranks, Content::anything) != nullptr;
}

/// A lender may compute while its data are read: here loans pay even where the kernel's copy is slow.
void NonblockingLane::make_cells(std::byte* memory) {
  const auto least_loan = single_copy_.least_loan();
  cells_ =
      std::make_unique<transports::shm::Cells>(memory, lane_.channel().ranks(), lane_.channel().rank(),
                                               lane_.channel().waiting(), least_loan ? &peers_ : nullptr);
  if (least_loan) cells_->lend_from(*least_loan);
}

template <class Operation>
Outstanding& NonblockingLane::prepare(OperationPool<Operation>& pool, const Prepared& prepared,
                                      const Call& call) {
  Operation& operation = pool.take(*this);
  operation.prepare(prepared, call);
  return operation;
}

Outstanding* NonblockingLane::start(const Prepared& prepared, const Call& call) noexcept {
  const std::uint32_t before = lane_.channel().instance();
  try {
    Outstanding& operation =
        prepared.path.flat ? prepare(flat_operations_, prepared, call) : prepare(operations_, prepared, call);
    mark(before + 1, lane_.channel().instance() - before, prepared.kind);
    return &operation;
  } catch (...) {  // no memory for it on this rank alone: the others cannot know
    guard_.fail(before + 1, Status::no_memory);
    return nullptr;
  }
}

void NonblockingLane::mark(std::uint32_t first, std::uint32_t count, const CallKind& kind) noexcept {
  const CallMark mark = CallMark::of(kind);
  const std::uint32_t end = first + count;
  for (std::uint32_t i = count > transports::shm::marks_kept ? end - transports::shm::marks_kept : first;
       i != end; ++i)
    leave_mark(lane_.channel(), i, mark);
}

}  // namespace hocket::engine
