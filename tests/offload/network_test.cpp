// Aggregations in front of a switch, through the libsharp_coll.so that was built, by ranks that are threads.
#include <gtest/gtest.h>

#include <poll.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/ranks.hpp"
#include "switch/tree.hpp"

namespace hocket::harness {
namespace {

using kernels::ElementType;
using kernels::OpKind;
using offload::Aggregation;
using offload::Group;
using offload::Kind;
using offload::Request;

constexpr int ranks = 3;

/// So many bytes of small numbers, whatever the type: sums of theirs are exact.
Bytes data_of(int rank, ElementType type, std::size_t count) {
  const std::size_t element = std::max<std::size_t>(kernels::element_size(type), 1);
  Bytes data(count * element, std::byte{0});
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint8_t>((static_cast<std::size_t>(rank) + i) % 3);
    std::byte* const at = data.data() + i * element;
    const auto put = [at](auto value, std::size_t offset = 0) {
      std::memcpy(at + offset, &value, sizeof value);
    };
    switch (type) {
      case ElementType::f32:
      case ElementType::c32:
      case ElementType::pair_f32_i32:
        put(static_cast<float>(number));
        break;
      case ElementType::f64:
      case ElementType::c64:
      case ElementType::pair_f64_i32:
        put(static_cast<double>(number));
        break;
      case ElementType::f16:
        put(static_cast<std::uint16_t>(number << 10U));
        break;
      case ElementType::bf16:
        put(static_cast<std::uint16_t>(number << 7U));
        break;
      default:
        put(number);
    }
  }
  return data;
}

Bytes reduced(OpKind op, ElementType type, std::size_t count) {
  std::vector<Bytes> all;
  std::vector<const void*> sources;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(data_of(rank, type, count));
  for (const Bytes& one : all) sources.push_back(one.data());
  Bytes result(all.front().size());
  kernels::find(op, type)(result.data(), sources.data(), ranks, count);
  return result;
}

/// With a switch of its own, where nothing else is said in the environment.
class OffloadNetwork : public testing::Test {
 protected:
  OffloadNetwork() { start({}); }
  ~OffloadNetwork() override {
    for (const auto& [variable, value] : variables_) unsetenv(variable.c_str());
  }
  void start(const aggregation::Limits& limits) {
    aggregation::Settings settings;
    settings.limits = limits;
    switch_ = std::make_unique<Switch>(settings);
    set("HOCKET_SWITCH", switch_->name());
  }
  void set(const std::string& variable, const std::string& value) {
    variables_[variable] = value;
    setenv(variable.c_str(), value.c_str(), 1);
  }

  static std::unique_ptr<offload::Tree> open(Room& room, std::size_t longest_part = 512 << 20U) {
    return offload::Tree::open(
        SHARP_LIBRARY, {.rank = room.self().rank, .size = room.self().size, .longest_part = longest_part},
        room);
  }
  /// act(room, tree, group) by each rank.
  template <class Act>
  static void in_group(Act act, std::size_t longest_part = 512 << 20U) {
    in_ranks(ranks, [&](Room& room) {
      const std::unique_ptr<offload::Tree> tree = open(room, longest_part);
      const std::unique_ptr<Group> group = tree->make_group(room.self(), room).group;
      ASSERT_TRUE(group);
      act(room, *tree, *group);
      room.barrier();
    });
  }

  std::unique_ptr<Switch> switch_;
  std::map<std::string, std::string> variables_;
};

TEST_F(OffloadNetwork, ReducesAllThatItTakes) {
  constexpr std::size_t count = 50;
  std::atomic<int> taken = 0;
  in_group([&](Room& room, offload::Tree& tree, Group& group) {
    const int rank = room.self().rank;
    for (std::size_t type_number = 0; type_number < kernels::element_type_count; ++type_number)
      for (std::size_t op_number = 0; op_number < kernels::op_kind_count; ++op_number) {
        const auto type = static_cast<ElementType>(type_number);
        const auto op = static_cast<OpKind>(op_number);
        if (!tree.takes(Kind::allreduce, op, type)) continue;
        if (rank == 0) ++taken;
        Bytes data = data_of(rank, type, count);
        const Aggregation in_place{Kind::allreduce, 0, data.data(), data.data(), data.size(), type, op};
        ASSERT_EQ(run(group, in_place), Status::ok);
        EXPECT_EQ(data, reduced(op, type, count)) << kernels::name(type) << ' ' << kernels::name(op);
      }
  });
  EXPECT_EQ(taken,
            8 * 10 + 4 * 4 + 2 + 2 * 3 + 3 + 5 * 2);  // integers, floating, complex, logical, bytes, pairs
}

TEST_F(OffloadNetwork, RunsAllKindsOfAllSizesAtEveryRoot) {
  set("SHARP_COLL_ENABLE_SAT", "1");
  in_group([&](Room& room, offload::Tree& tree, Group& group) {
    EXPECT_TRUE(tree.terms().streams);
    const int rank = room.self().rank;
    const auto piece = static_cast<std::size_t>(tree.terms().bytes_per_operation) / 2;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 20 * piece,
                                    std::size_t{8191}, std::size_t{8192}, std::size_t{100'000}}) {
      const Bytes source = data_of(rank, ElementType::u16, count);
      const Bytes sum = reduced(OpKind::sum, ElementType::u16, count),
                  untouched(source.size(), std::byte{77});
      const Aggregation all{Kind::allreduce,  0,          source.data(), nullptr, source.size(),
                            ElementType::u16, OpKind::sum};
      Bytes target = untouched;
      Aggregation what = all;
      what.target = target.data();
      ASSERT_EQ(run(group, what), Status::ok);
      EXPECT_EQ(target, sum) << count;
      for (int root = 0; root < ranks; ++root) {
        target = untouched;
        what.kind = Kind::reduce;
        what.root = root;
        ASSERT_EQ(run(group, what), Status::ok);
        EXPECT_EQ(target, rank == root ? sum : untouched) << count;
        target = untouched;
        what.kind = Kind::bcast;
        ASSERT_EQ(run(group, what), Status::ok);
        EXPECT_EQ(target, rank == root ? untouched : data_of(root, ElementType::u16, count)) << count;
      }
      ASSERT_EQ(run(group, {}), Status::ok);
    }
  });
}

/// The last member posts when all others wait.
TEST_F(OffloadNetwork, TellsWhatToPoll) {
  in_group([](Room& room, offload::Tree&, Group& group) {
    Bytes data = data_of(room.self().rank, ElementType::u8, 100'000);
    Request request;
    if (room.self().rank == 0) sleep_ns(10'000'000);
    group.post({Kind::allreduce, 0, data.data(), data.data(), data.size(), ElementType::u8, OpKind::sum},
               request);
    while (group.test(request) == Status::pending) {
      pollfd alarm = group.alarm();
      ASSERT_GE(alarm.fd, 0);
      ASSERT_EQ(poll(&alarm, 1, 20'000), 1);
    }
    EXPECT_EQ(data, reduced(OpKind::sum, ElementType::u8, data.size()));
    room.barrier();
  });
}

TEST_F(OffloadNetwork, RunsManyAtATime) {
  constexpr std::size_t many = 40, count = 3000;  // in 6 parts
  set("SHARP_COLL_OSTS_PER_GROUP", "2");
  in_group(
      [&](Room& room, offload::Tree&, Group& group) {
        const auto request = std::make_unique<Request[]>(many);
        std::vector<Bytes> data(many, data_of(room.self().rank, ElementType::u8, count));
        for (std::size_t i = 0; i < many; ++i) {
          Bytes& one = data[i];
          const Aggregation what{Kind::allreduce, 0,          one.data(), one.data(), one.size() - i,
                                 ElementType::u8, OpKind::sum};
          ASSERT_EQ(group.post(what, request[i]), Status::pending);
          if (i % 3 == static_cast<std::size_t>(room.self().rank)) group.test(request[i]);
        }
        for (std::size_t i = many; i-- > 0;) ASSERT_EQ(finish(group, request[i]), Status::ok);
        const Bytes sum = reduced(OpKind::sum, ElementType::u8, count);
        for (std::size_t i = 0; i < many; ++i)
          EXPECT_TRUE(std::equal(sum.begin(), sum.end() - static_cast<std::ptrdiff_t>(i), data[i].begin()))
              << i;
      },
      500);
}

TEST_F(OffloadNetwork, HasRoomForSoManyGroups) {
  aggregation::Limits few;
  few.groups = 2;
  start(few);
  in_ranks(ranks, [&](Room& room) {
    const std::unique_ptr<offload::Tree> tree = open(room);
    EXPECT_EQ(tree->terms().groups, 2);
    std::vector<std::unique_ptr<Group>> groups;
    for (int i = 0; i < 2; ++i) groups.push_back(tree->make_group(room.self(), room).group);
    offload::GroupOrReason one_more = tree->make_group(room.self(), room);
    EXPECT_TRUE(!one_more.group && one_more.is_shortage);
    EXPECT_EQ(one_more.error, SHARP_COLL_EGROUP_ALLOC) << one_more.words;
    groups.front().reset();
    one_more = tree->make_group(room.self(), room);
    ASSERT_TRUE(one_more.group) << one_more.words;
    EXPECT_EQ(run(*one_more.group, {}), Status::ok);
  });
}

std::string refusal_of(Room& room, const std::string& library) {
  try {
    offload::Tree::open(library, {.rank = room.self().rank, .size = room.self().size}, room);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST_F(OffloadNetwork, IsRefusedToAllRanksAlike) {
  const auto expect_all = [](const std::string& words, auto library_of) {
    in_ranks(ranks, [&](Room& room) {
      const std::string refusal = refusal_of(room, library_of(room.self().rank));
      EXPECT_NE(refusal.find(words), refusal.npos) << refusal;
    });
  };
  const auto ours = [](int) { return SHARP_LIBRARY; };
  expect_all("load", [](int rank) { return rank == 1 ? "/no/such/library.so" : SHARP_LIBRARY; });
  set("HOCKET_SHARP_FAULTS", "job:2");
  expect_all("The aggregation tree is not reached, or does not take the job (-11)", ours);
  set("HOCKET_SHARP_FAULTS", "");
  switch_.reset();
  expect_all("(-11)", ours);
  set("HOCKET_SWITCH", "");
  expect_all("HOCKET_SWITCH does not say where the switch is (-13)", ours);
}

TEST_F(OffloadNetwork, RefusesGroupsToAllMembersAlike) {
  const std::pair<const char*, int> refusals[] = {{"group:1", SHARP_COLL_EGROUP_ALLOC},
                                                  {"quota:2", SHARP_COLL_EQUOTA}};
  for (const auto& [fault, error] : refusals) {
    set("HOCKET_SHARP_FAULTS", fault);
    in_ranks(ranks, [error = error](Room& room) {
      const offload::GroupOrReason none = open(room)->make_group(room.self(), room);
      EXPECT_TRUE(!none.group && none.is_shortage);
      EXPECT_EQ(none.error, error);
    });
  }
}

/// One is on its way on ranks 1 and 2 when `act` is done by rank 0; all fail, and it is of their targets that
/// nothing is written after that.
template <class Act>
void expect_failure(Room& room, Group& group, std::size_t bytes, Act act) {
  Bytes source(bytes, std::byte{1}), target(bytes, std::byte{2});
  Request request;
  if (room.self().rank != 0)
    group.post({Kind::allreduce, 0, source.data(), target.data(), bytes, ElementType::u8, OpKind::sum},
               request);
  room.barrier();
  if (room.self().rank == 0) act();
  if (room.self().rank != 0) {
    EXPECT_EQ(finish(group, request), Status::failed);
    EXPECT_TRUE(group.is_broken());
    EXPECT_NE(group.error(), 0);
    EXPECT_EQ(target, Bytes(bytes, std::byte{2}));
  }
  room.barrier();
}

TEST_F(OffloadNetwork, FailsOnAllWhenItsSwitchDies) {
  set("SHARP_COLL_ENABLE_SAT", "1");
  in_group([&](Room& room, offload::Tree& tree, Group& group) {
    expect_failure(room, group, 1 << 20U, [&] { switch_->stop(); });
    if (room.self().rank == 0) {
      EXPECT_EQ(run(group, {}), Status::failed);
    }
    const offload::GroupOrReason none = tree.make_group(room.self(), room);
    EXPECT_TRUE(!none.group && !none.is_shortage);
    EXPECT_EQ(none.error, SHARP_COLL_ECONN_TREE);
  });
}

TEST_F(OffloadNetwork, WorksAgainWhenItsSwitchIsBack) {
  const tcp::Place place = tcp::place_in(switch_->name());
  in_group([&](Room& room, offload::Tree& tree, Group& group) {
    expect_failure(room, group, 1000, [&] { switch_->stop(); });
    if (room.self().rank == 0) {
      switch_.reset();
      switch_ = std::make_unique<Switch>(aggregation::Settings(), place);
    }
    room.barrier();
    const offload::GroupOrReason made = tree.make_group(room.self(), room);
    ASSERT_TRUE(made.group) << made.words;
    EXPECT_EQ(run(*made.group, {}), Status::ok);
    EXPECT_EQ(run(group, {}), Status::failed) << "the old one stays as it is";
    room.barrier();
  });
}

/// What a stopped switch is: connections are made, and nobody says anything.
TEST_F(OffloadNetwork, WaitsNoLongerThanItIsTold) {
  const tcp::Place place = tcp::place_in(switch_->name());
  Descriptor silent;
  in_ranks(ranks, [&](Room& room) {
    const std::unique_ptr<offload::Tree> tree = open(room);
    room.barrier();
    if (room.self().rank == 0) {
      switch_.reset();
      silent = tcp::listen_at(place);
    }
    room.barrier();
    for (int i = 0; i < 20; ++i) {
      const Deadline end(5);
      EXPECT_EQ(tree->make_group(room.self(), room).error, SHARP_COLL_ECONN_TREE);
      EXPECT_FALSE(end.passed());
    }
  });
}

TEST_F(OffloadNetwork, FailsOnAllWhenOneGivesUp) {
  in_ranks(ranks, [&](Room& room) {
    const std::unique_ptr<offload::Tree> tree = open(room);
    std::unique_ptr<Group> group = tree->make_group(room.self(), room).group;
    const std::unique_ptr<Group> other = tree->make_group(room.self(), room).group;
    expect_failure(room, *group, 5000, [&] { group.reset(); });
    EXPECT_EQ(run(*other, {}), Status::ok) << "others go on";
  });
}

TEST_F(OffloadNetwork, FailsOnAllWhenOneIsCutOff) {
  set("HOCKET_SHARP_FAULTS", "disconnect=4:1");
  in_group([&](Room& room, offload::Tree&, Group& group) {
    Bytes data = data_of(room.self().rank, ElementType::u8, 100);
    const Aggregation what{Kind::allreduce, 0,          data.data(), data.data(), data.size(),
                           ElementType::u8, OpKind::bor};
    int went_well = 0;
    while (went_well < 10 && run(group, what) == Status::ok) ++went_well;
    EXPECT_TRUE(went_well == 3 || went_well == 4) << went_well;
    EXPECT_TRUE(group.is_broken());
  });
}

/// More than is on its way at a time, so that rank 1 leaves in the middle.
TEST_F(OffloadNetwork, TouchesNothingOfAGroupThatIsGone) {
  set("SHARP_COLL_ENABLE_SAT", "1");
  in_ranks(ranks, [&](Room& room) {
    const std::unique_ptr<offload::Tree> tree = open(room);
    std::unique_ptr<Group> group = tree->make_group(room.self(), room).group;
    const std::unique_ptr<Group> other = tree->make_group(room.self(), room).group;
    Bytes data(8 << 20U, static_cast<std::byte>(room.self().rank));
    Request request;
    group->post({Kind::bcast, 0, data.data(), data.data(), data.size()}, request);
    for (int i = 0; i < 300; ++i) group->test(request);
    room.barrier();
    if (room.self().rank == 1) {
      group.reset();
      const Bytes left(data.begin(), data.end());
      EXPECT_EQ(request.status(), Status::failed);
      EXPECT_EQ(run(*other, {}), Status::ok);
      EXPECT_TRUE(data == left);
    } else {
      EXPECT_EQ(run(*other, {}), Status::ok);
      EXPECT_EQ(finish(*group, request), Status::failed);
    }
    room.barrier();
  });
}

TEST_F(OffloadNetwork, LastsAsLongAsItsGroups) {
  in_ranks(ranks, [&](Room& room) {
    std::unique_ptr<offload::Tree> tree = open(room);
    const std::unique_ptr<Group> group = tree->make_group(room.self(), room).group;
    tree.reset();
    EXPECT_EQ(run(*group, {}), Status::ok);
    room.barrier();
  });
}

}  // namespace
}  // namespace hocket::harness
