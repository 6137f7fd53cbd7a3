#include "engine/node_tables.hpp"

#include <algorithm>
#include <atomic>

#include "base/clock.hpp"

namespace hocket::engine {
namespace {

using passes::NewTable;
using passes::Table;

/// In front of a table in the arena.
struct alignas(64) Header {
  enum class State : std::uint32_t { blank, being_filled, filled, given_up };
  std::atomic<State> state;
  std::atomic<Rank> filler;  ///< in the world, plus 1; 0: not known yet
};
static_assert(std::atomic<Header::State>::is_always_lock_free && std::atomic<Rank>::is_always_lock_free);

/// Beyond any time that filling one takes, on any number of ranks to a core.
constexpr double patience_seconds = 30;
constexpr double look_after_seconds = 0.1;

/// Beside the parts of the communicator that its data paths carve.
constexpr std::uint32_t tables_part = ~std::uint32_t{0};

/// Longer and longer, so that whoever fills the table has the core.
class Naps {
 public:
  void nap() {
    constexpr long longest_ns = 2'000'000;
    sleep_ns(next_ns_);
    next_ns_ = std::min(next_ns_ + next_ns_ / 4, longest_ns);
  }

 private:
  long next_ns_ = 20'000;
};

bool has_died(const Arena& arena, const Header& header) {
  const Rank filler = header.filler.load(std::memory_order_acquire);
  return filler > 0 && !arena.alive(filler - 1);
}

/// False: whoever was to fill it has given it up, or died.
bool wait_until_filled(const Arena& arena, const Host& host, const Header& header) {
  const Deadline patience(patience_seconds);
  Deadline next_look(look_after_seconds);
  for (Naps naps; header.state.load(std::memory_order_acquire) == Header::State::being_filled; naps.nap()) {
    if (host.poke) host.poke(host.context);
    if (patience.passed()) return false;
    if (!next_look.passed()) continue;
    if (has_died(arena, header)) return false;
    next_look = Deadline(look_after_seconds);
  }
  return header.state.load(std::memory_order_acquire) == Header::State::filled;
}

void fill_for_all(Header& header, NewTable table, Rank self, const std::function<void(NewTable)>& fill) {
  header.filler.store(self + 1, std::memory_order_release);
  try {
    fill(table);
  } catch (...) {
    header.state.store(Header::State::given_up, std::memory_order_release);
    throw;
  }
  header.state.store(Header::State::filled, std::memory_order_release);
}

}  // namespace

NodeTables::NodeTables(Arena* arena, const Host& host, const Owners& owners, std::size_t least_shared)
    : arena_(arena), host_(host), key_(owners.key), self_(owners.self), least_shared_(least_shared) {
  if (arena_)
    users_ = static_cast<int>(
        std::ranges::count_if(owners.members, [arena](Rank rank) { return arena->has(rank); }));
}

SlotKey NodeTables::key_of(std::uint64_t name) const {
  return {key_.origin + (name + 1) * 0x9e3779b97f4a7c15u, key_.members, tables_part};
}

/// Null: there is no memory to spare for it, on all of the node's ranks alike.
std::byte* NodeTables::carve(std::uint64_t name, std::size_t bytes) {
  return parts_.try_emplace(name, *arena_, key_of(name)).first->second.carve(bytes, users_, Content::spare);
}

Table NodeTables::make(std::uint64_t name, std::size_t size, const std::function<void(NewTable)>& fill) {
  const std::size_t bytes = size * sizeof(std::uint32_t);
  std::byte* const memory =
      users_ > 1 && bytes >= least_shared_ ? carve(name, sizeof(Header) + bytes) : nullptr;
  if (!memory) return own_.get(name, size, fill);
  Header& header = *reinterpret_cast<Header*>(memory);
  const NewTable table(reinterpret_cast<std::uint32_t*>(memory + sizeof(Header)), size);
  Header::State state = Header::State::blank;
  if (header.state.compare_exchange_strong(state, Header::State::being_filled))
    fill_for_all(header, table, self_, fill);
  else if (!wait_until_filled(*arena_, host_, header))
    return own_.get(name, size, fill);
  return table;
}

}  // namespace hocket::engine
