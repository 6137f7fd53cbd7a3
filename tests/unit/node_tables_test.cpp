// Tables that the ranks of a node share: written by one of them, seen by all, and nobody's trap when that one
// dies or there is no memory.
#include "engine/node_tables.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "engine/places.hpp"
#include "harness/arena_ranks.hpp"

namespace hocket::engine {
namespace {

using passes::NewTable;
using passes::Table;
using test::in_sealed_arena;
using test::meet;

constexpr SlotKey some_key = {7, 8, 0};
constexpr std::size_t share_all = 1;

/// Of a rank of the arena, which is the `local`-th there.
class Tables {
 public:
  Tables(Arena* arena, int local, std::vector<Rank> members, std::size_t least_shared = share_all,
         const SlotKey& key = some_key)
      : members_(std::move(members)), tables_(arena, host_, {key, members_, 10 * local + 1}, least_shared) {}
  NodeTables& operator*() { return tables_; }
  NodeTables* operator->() { return &tables_; }

 private:
  Host host_;
  std::vector<Rank> members_;
  NodeTables tables_;
};

/// World ranks as test::come_up() gives them; one more is on another node.
std::vector<Rank> members_on(int ranks) {
  std::vector<Rank> members = {5};
  for (int rank = 0; rank < ranks; ++rank) members.push_back(10 * rank + 1);
  return members;
}

std::string text_of(Table table) {
  std::string text;
  for (const std::uint32_t number : table) text += std::to_string(number) + " ";
  return text;
}

void count_up(NewTable table) {
  std::iota(table.begin(), table.end(), 1U);
}

TEST(NodeTables, AreFilledByOneAndSeenByAll) {
  const int ranks = 4;
  const auto texts = in_sealed_arena(ranks, [&](auto& arena, int rank) {
    Tables tables(arena.get(), rank, members_on(ranks));
    const auto fill = [&](NewTable table) {
      count_up(table);
      table[0] = static_cast<std::uint32_t>(getpid());
    };
    const Table one = tables->get(1, 4, fill), again = tables->get(1, 4, fill),
                other = tables->get(2, 4, fill);
    if (one.data() != again.data() || one.data() == other.data()) return std::string("names are mixed up");
    meet(*arena, 1, ranks);
    return text_of(one) + text_of(other);
  });
  EXPECT_EQ(test::distinct(texts).size(), 1U) << texts[0] << " and " << texts[1];
  EXPECT_NE(texts[0].find(" 2 3 4 "), std::string::npos) << texts[0];
}

TEST(NodeTables, GiveTheirMemoryBack) {
  const int ranks = 2;
  const auto texts = in_sealed_arena(ranks, [&](auto& arena, int rank) {
    const std::size_t before = arena->used_bytes();
    meet(*arena, 1, ranks);
    std::size_t during = 0;
    {
      Tables tables(arena.get(), rank, members_on(ranks));
      tables->get(1, 10000, count_up);
      tables->get(1, 10000, count_up);
      meet(*arena, 2, ranks);
      during = arena->used_bytes();
      meet(*arena, 3, ranks);
    }
    meet(*arena, 4, ranks);
    return std::to_string(during > before) + std::to_string(during - arena->used_bytes() > 20000);
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "11");
}

TEST(NodeTables, AreEverybodysOwnWithoutOthers) {
  const auto texts = in_sealed_arena(2, [&](auto& arena, int rank) {
    const auto is_right = [](Tables&& tables) { return tables->get(1, 1000, count_up).back() == 1000; };
    const std::size_t before = arena->used_bytes();
    const bool right = is_right(Tables(arena.get(), rank, {10 * rank + 1})) &&
                       is_right(Tables(arena.get(), rank, members_on(2), NodeTables::least_shared_bytes)) &&
                       is_right(Tables(nullptr, rank, members_on(2)));
    return std::to_string(right) + std::to_string(arena->used_bytes() == before);
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "11");
}

/// Communicators on the node cannot do without: half of the memory is theirs.
TEST(NodeTables, LeaveHalfOfTheMemoryToOthers) {
  const auto texts = in_sealed_arena(2, [&](auto& arena, int rank) {
    Tables tables(arena.get(), rank, members_on(2));
    bool right = true;
    for (std::uint64_t name = 0; name < 20; ++name)
      right = right && tables->get(name, 20'000, count_up).back() == 20'000;
    const std::size_t used = arena->used_bytes();
    meet(*arena, 1, 2);
    const Slot needed = arena->carve({1, 1, 1}, arena->budget_bytes() / 2, 2);
    return std::to_string(right) + std::to_string(used > 100'000 && used <= arena->budget_bytes() / 2) +
           std::to_string(needed.memory != nullptr);
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "111");
}

TEST(NodeTables, ThatCannotBeFilledAreRefusedToAll) {
  const auto texts = in_sealed_arena(3, [&](auto& arena, int rank) -> std::string {
    Tables tables(arena.get(), rank, members_on(3));
    for (int tries = 0; tries < 2; ++tries) {
      try {
        tables->get(1, 8, [](NewTable) { throw std::runtime_error("no"); });
        return "filled";
      } catch (const std::runtime_error&) {
        continue;
      }
    }
    return text_of(tables->get(1, 3, count_up));
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "1 2 3 ");
}

TEST(NodeTables, OfOneWhoDiedAreFilledAnew) {
  const test::Event filling;
  const auto texts = in_sealed_arena(2, [&](auto& arena, int rank) {
    Tables tables(arena.get(), rank, members_on(2));
    if (rank == 1) {
      filling.wait();
      return text_of(tables->get(1, 3, count_up));
    }
    tables->get(1, 3, [&](NewTable) {
      filling.happen();
      raise(SIGKILL);
    });
    return std::string("lives");
  });
  EXPECT_EQ(texts[1], "1 2 3 ");
}

/// As many numbers as a job of 4,096 ranks has, with two ranks of it here.
TEST(NodeTables, HoldPlacesAndNeighbourhoods) {
  Told told;
  told.levels = 2;
  for (std::uint64_t rank = 0; rank < 4096; ++rank) {
    const std::uint64_t node = 1 + rank % 256;
    told.names.insert(told.names.end(), {node, 1000 + node / 16, 2000 + node / 64});
    told.sockets.push_back(1 + rank / 256 % 2);
    told.internet.insert(told.internet.end(), {static_cast<std::uint32_t>(node), 0, 0, 0});
  }
  std::vector<Rank> everybody(4096);
  std::iota(everybody.begin(), everybody.end(), Rank{0});
  const auto said = [&](const Places& places, const passes::Neighbourhood& near) {
    passes::By by;
    for (const auto level : {passes::Level::sockets, passes::Level::nodes, passes::Level::leaves})
      by.add(level);
    const passes::Groups& groups = near.in_order().grouped(by)->groups;
    std::string text =
        std::to_string(places.sockets()) + " sockets, " + std::to_string(groups.levels()) + ": ";
    for (std::size_t level = 0; level <= groups.levels(); ++level)
      text += std::to_string(groups.members(level, 4000, 17, 3).size()) + " ";
    return text + std::to_string(near.order()[1000]) + std::to_string(near.is_in_order());
  };
  const Places own(told);
  const std::string expected = said(own, own.of(everybody));
  auto with = test::settings();
  with.budget_bytes = 16 << 20;
  const std::string key = test::new_key();
  const auto body = [&](int rank) {
    auto arena = test::come_up(key, rank, 2, with);
    if (!arena->sealed()) return arena->why();
    const Host host;
    const auto tables = [&](std::uint64_t origin) {
      const NodeTables::Owners owners = {{origin, 0, 0}, everybody, 10 * rank + 1};
      return std::make_shared<NodeTables>(arena.get(), host, owners);
    };
    const Places places(told, tables(1));
    const passes::Neighbourhood near = places.of(everybody, tables(2));
    const std::string text = said(places, near);
    const bool shares = arena->used_bytes() > 200'000;
    meet(*arena, 1, 2);
    return shares ? text : "nothing is shared";
  };
  for (const std::string& text : test::ForkedRanks().start_all(2, body).wait()) EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace hocket::engine
