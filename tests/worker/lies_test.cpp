// Ranks that say what no rank says: their worker refuses them, touches no memory but theirs, uses none for
// what is only said, and serves the others as before. Lies at random: random_lies_test.cpp.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "lies.hpp"
#include "worker/tag.hpp"

namespace hocket::worker {
namespace {

TEST_F(Lies, OfCommunicators) {
  expect_no_such_communicator("that the job does not have", 0, {0, 1, 3});
  expect_no_such_communicator("that the job does not have", 0, {0, -1, 2});
  expect_no_such_communicator("a rank twice", 0, {0, 1, 1});
  expect_no_such_communicator("this rank is not in", 1, {0, 1, 2});
  expect_no_such_communicator("cannot be read", 3, {0, 1, 2});
  expect_no_such_communicator("cannot be read", -1, {0, 1, 2});
  expect_no_such_communicator("cannot be read", 0, {});
  expect_refused("number of another", [](Node& node) {
    for (int i = 0; i < 2; ++i) node.tell(liar, Open{1, {5, 0}, 0, {0, 1, 2}});
  });
}

TEST_F(Lies, OfWhatIsDefined) {
  const Define good = allreduce();
  expect_refused("not open", [&](Node& node) { node.tell(liar, good); });
  expect_refused("number of another", [&](Node& node) {
    open(node, 1, 5, {0, 1, 2});
    for (int i = 0; i < 2; ++i) node.tell(liar, good);
  });
  expect_refused("what is not defined", [](Node& node) { node.tell(liar, Start{2, 0, 1}); });
  for (const bool closes : {false, true})
    expect_refused("what is not defined", [&](Node& node) {
      open(node, 1, 5, {0, 1, 2});
      node.tell(liar, good);
      closes ? node.tell(liar, Close{1}) : node.tell(liar, Forget{2});
      node.tell(liar, Start{2, 0, 1});
    });
}

TEST_F(Lies, OfCompletions) {
  for (const std::uint32_t completion : {most_under_way, std::numeric_limits<std::uint32_t>::max()})
    expect_refused("completion", [&](Node& node) {
      open(node, 1, 5, {0, 1, 2});
      node.tell(liar, allreduce());
      node.tell(liar, Start{2, completion, 1});
    });
  expect_refused("completion", [&](Node& node) {
    open(node, 1, 5, {0, 1, 2});
    node.tell(liar, allreduce());
    for (int i = 0; i < 2; ++i) node.tell(liar, Start{2, 7, 1});
  });
}

TEST_F(Lies, OfWordsElsewhere) {
  const auto started = [&](std::uint32_t completion, std::uint64_t word) {
    return [this, completion, word](Node& node) {
      open(node, 1, 5, {0, 1, 2});
      node.tell(liar, allreduce());
      node.tell(liar, StartElsewhere{{2, completion, 1}, word});
      node.tell(liar, Abandon{completion});
    };
  };
  expect_refused("completion", started(most_under_way, 0));
  expect_refused("completion", started(most_under_way - 1, 4096));
  Node node = new_node();
  started(most_under_way, 64)(node);  // where nothing is
  expect_others_are_served(node);
  EXPECT_TRUE(node.is_served(liar));
}

TEST_F(Lies, OfAlgorithms) {
  const auto with = [&](const std::string& recipe) {
    Define define = allreduce();
    define.recipe = recipe;
    return define;
  };
  expect_no_such_call("unknown algorithm", with("no such"));
  expect_no_such_call("no algorithm", with(""));
  expect_no_such_call("none of messages", with("native"));
  expect_no_such_call("none of messages", with("flat"));  // in shared memory
  expect_no_such_call("none of messages", with("in_network"));
  expect_no_such_call("", with(std::string(100'000, 'x')));
  expect_no_such_call("is not between", with("ring in 1025 segments"));
  expect_no_such_call("is not a number", with("ring in all segments"));
  expect_no_such_call("does not fit", with("ring by nodes"));  // of which it has not told
  for (const algorithms::Algorithm& row : algorithms::catalog())
    for (const algorithms::Parameter& parameter : row.parameters)
      for (const std::int64_t value : {std::int64_t{parameter.least} - 1, std::int64_t{parameter.most} + 1}) {
        if (row.collective != ir::Collective::allreduce || row.access != algorithms::Access::two_sided)
          continue;
        const std::string name = std::string(row.name) + "(" + std::string(parameter.name) + "=";
        expect_no_such_call("is not", with(name + std::to_string(value) + ")"));
      }
}

/// Of where the members are.
TEST_F(Lies, OfNodes) {
  const auto told = [](std::uint32_t rows, const std::vector<std::uint32_t>& groups,
                       const std::vector<std::uint32_t>& sockets) {
    return [=](Node& node) { node.tell(liar, Open{1, {5, 0}, 0, {0, 1, 2}, rows, groups, sockets}); };
  };
  expect_refused("cannot be read", told(1, {0, 1}, {}));
  expect_refused("cannot be read", told(~0U, {0, 1, 2}, {}));
  expect_refused("cannot be read", told(0, {}, {0, 1, 2}));
  expect_refused("cannot be read", told(1, {0, 1, 2}, {0}));
  expect_refused("", told(2, {0, 0, 1, 0, 1, 1}, {}));  // a node under two switches
  expect_refused("too many levels", told(100, std::vector<std::uint32_t>(300), {}));
  Node node = new_node();
  told(1, {~0U, 7, ~0U}, {3, 9, 3})(node);
  node.settle();
  EXPECT_TRUE(node.is_served(liar));
}

TEST_F(Lies, OfReductions) {
  expect_no_such_call("cannot be read", allreduce(), [](Define& d) { d.kernel_operation = 99; });
  expect_no_such_call("cannot be read", allreduce(), [](Define& d) { d.kernel_type = 255; });
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}, std::size_t{16}, ~std::size_t{0}})
    expect_no_such_call("cannot be read", allreduce(),
                        [&](Define& d) { d.operation.reduction.element_bytes = bytes; });
}

TEST_F(Lies, OfRootsAndTables) {
  expect_no_such_call("without a root", alltoall(), [](Define& d) { d.operation.root = 3; });
  expect_no_such_call("without a root", alltoall(), [](Define& d) { d.operation.root = -1; });
  expect_no_such_call("not as many", alltoall(), [](Define& d) { d.input_table.sizes = {1, 2}; });
  expect_no_such_call("not as many", alltoall(), [](Define& d) { d.output_table.offsets = {1, 2, 3, 4}; });
}

TEST_F(Lies, OfSizesThatNobodyHas) {
  for (const unsigned bits : {45U, 47U, 60U, 63U}) {
    const std::size_t much = std::size_t{1} << bits;
    for (const std::size_t bytes : {much, much - 8, ~much + 1})
      expect_no_such_call("", allreduce(),
                          [&](Define& d) { d.operation.own_bytes = d.operation.agreed_bytes = bytes; });
    expect_no_such_call("", alltoall(), [&](Define& d) { d.input_table.sizes = {1, much, much}; });
    expect_no_such_call("", alltoall(), [&](Define& d) { d.operation.agreed_bytes = much; });
  }
}

TEST_F(Lies, OfSizesThatDoNotFitEachOther) {
  const std::string reason = "do not fit each other";
  expect_no_such_call(reason, alltoall(16), [](Define& d) { d.operation.agreed_bytes = 17; });
  expect_no_such_call(reason, alltoall(16), [](Define& d) { d.operation.input_blocks.size = 15; });
  expect_no_such_call(reason, alltoall(16), [](Define& d) { d.operation.output_blocks.size = 1; });
  expect_no_such_call(reason, alltoall(16), [](Define& d) {
    d.input_table.sizes = {16, 16, 16};
    d.output_table.sizes = {1000, 16, 16};  // of itself, which no message tells of
  });
  expect_no_such_call("without a buffer", alltoall(), [](Define& d) { d.operation.input = nullptr; });
  expect_no_such_call("without a buffer", alltoall(), [](Define& d) { d.operation.output = nullptr; });
  expect_no_such_call("without a buffer", allreduce(), [](Define& d) { d.operation.input = nullptr; });
}

TEST_F(Lies, OfItsOwnBuffersAreErrorsOfTheCall) {
  for (const bool lies_of_input : {true, false}) {
    Node node = new_node();
    open(node, 1, 5, {0, 1, 2});
    Define define = allreduce();
    void* const nowhere = reinterpret_cast<void*>(64);  // NOLINT(performance-no-int-to-ptr)
    if (lies_of_input)
      define.operation.input = nowhere;
    else
      define.operation.output = nowhere;
    node.tell(liar, define);
    node.tell(liar, Start{2, 0, 1});
    node.settle();
    EXPECT_TRUE(node.is_served(liar));
    EXPECT_EQ(node.status(liar, 0), Status::failed);
    EXPECT_NE(std::string(node.desk(liar).words.data()).find("cannot be reached"), std::string::npos);
    expect_others_are_served(node);
  }
}

/// Then it is read and written as all other memory.
TEST_F(Lies, OfMemoryThatMayBeMapped) {
  const SharedMemory& own = memory_of(liar);
  const engine::SharedRange honest = own.range();
  const int unsealed = memfd_create("unsealed", MFD_CLOEXEC);
  const int huge = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  const int leased = memfd_create("leased", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int device = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
  int pipe[2];
  ASSERT_EQ(pipe2(pipe, O_CLOEXEC), 0);
  constexpr std::size_t huge_bytes = std::size_t{2} << 20U;
  static_assert(huge_bytes == 2 * room);
  for (const int file : {unsealed, huge, leased})  // huge pages are not everywhere
    ASSERT_TRUE(file < 0 || ftruncate(file, huge_bytes) == 0);
  fcntl(huge, F_ADD_SEALS, F_SEAL_SHRINK);
  fcntl(leased, F_ADD_SEALS, F_SEAL_SHRINK);
  fcntl(leased, F_SETLEASE, F_WRLCK);
  const Bystander with_these;  // its descriptors are those of now
  std::vector<engine::SharedRange> lies;
  for (const int file : {unsealed, huge, leased, folder, device, pipe[0]})
    lies.push_back(SharedMemory::range_of(file, own.data(), 2 * room));
  const auto lie = [&](auto change) {
    lies.push_back(honest);
    change(lies.back());
  };
  lie([](auto& one) { one.file = 12345; });
  lie([](auto& one) { one.file = -1; });
  lie([&](auto& one) { one.file = unsealed; });
  lie([](auto& one) { one.bytes += 4096; });
  lie([](auto& one) { one.bytes -= 4096; });
  lie([](auto& one) { one.bytes = 0; });
  lie([](auto& one) { one.address = ~std::uint64_t{0}; });
  lie([](auto& one) { one.inode += 1; });
  for (const engine::SharedRange& one : lies) {
    Node node(ranks, with_these.pid());
    const Deadline too_late(5);
    node.tell(liar, Share{one});
    open(node, 1, 5, {0, 1, 2});
    for (ir::Rank rank = 0; rank < ranks; ++rank) {
      reinterpret_cast<std::uint64_t*>(input(rank))[0] = 1;
      node.tell(rank, moved(allreduce(), rank));
      node.tell(rank, Start{2, 0, 1});
    }
    node.settle();
    EXPECT_FALSE(too_late.passed());
    EXPECT_EQ(node.status(liar, 0), Status::ok);
    EXPECT_EQ(reinterpret_cast<const std::uint64_t*>(output(liar))[0], 3U);
    expect_others_are_served(node);
  }
  for (const int file : {unsealed, huge, leased, folder, device, pipe[0], pipe[1]}) close(file);
  expect_refused("too many", [&](Node& node) {
    for (int i = 0; i < 100; ++i) node.tell(liar, Share{own.range()});
  });
}

TEST_F(Lies, OfTheStream) {
  for (const std::uint64_t jump : {std::uint64_t{1} << 40U, StreamMemory::capacity + 1, ~std::uint64_t{0}})
    expect_refused("nobody can have written", [&](Node& node) {
      node.tell(liar, Open{1, {5, 0}, 0, {0, 1, 2}});
      node.settle();
      node.desk(liar).commands.written += jump;
    });
  expect_refused("no kind", [](Node& node) { node.write(liar, Bytes(8)); });
}

TEST_F(Lies, OfWhatComesAfterTheLastWord) {
  expect_refused("after the last one", [](Node& node) {
    node.tell(liar, Leave{0});
    node.tell(liar, Open{1, {5, 0}, 0, {0, 1, 2}});
  });
  expect_refused("know each other", [](Node& node) { node.tell(liar, Connect{{{}}, {0, 0, 0}}); });
}

/// Whoever waits for a refused rank hears of it, whatever that rank has said behind its nonsense.
TEST_F(Lies, EndWhatOthersHaveInCommonWithTheLiar) {
  Node node = new_node();
  open(node, 1, 5, {0, 1, 2});
  for (ir::Rank rank = 1; rank < ranks; ++rank) {
    node.tell(rank, moved(allreduce(), rank));
    node.tell(rank, Start{2, 0, 1});
  }
  node.settle();
  EXPECT_EQ(node.status(1, 0), Status::pending);
  Bytes words(8, std::byte{0xff});
  const Bytes leave = encode(Leave{0});
  words.insert(words.end(), leave.begin(), leave.end());
  node.write(liar, words);
  node.settle();
  for (ir::Rank rank = 1; rank < ranks; ++rank) {
    EXPECT_EQ(node.status(rank, 0), Status::failed);
    EXPECT_NE(std::string(node.desk(rank).words.data()).find("has ended"), std::string::npos);
  }
  expect_others_are_served(node);
}

/// It leaves while others need it.
TEST_F(Lies, OfLeavingInOrder) {
  Node node = new_node();
  open(node, 1, 5, {0, 1, 2});
  for (ir::Rank rank = 0; rank < 2; ++rank) {
    node.tell(rank, moved(allreduce(), rank));
    node.tell(rank, Start{2, 0, 1});
  }
  node.tell(liar, Leave{0});
  node.settle();
  node.served(liar).mourn();
  node.settle();
  EXPECT_EQ(node.status(1, 0), Status::failed);
}

TEST_F(Lies, OfALongCommandCostNothing) {
  Node node = new_node();
  const std::size_t before = resident_bytes();
  const CommandHead head{CommandKind::define, longest_command};
  node.write(liar, std::as_bytes(std::span(&head, 1)));
  const Bytes little(100);
  for (int i = 0; i < 100; ++i) {
    node.write(liar, little);
    node.settle();
  }
  EXPECT_TRUE(node.is_served(liar));  // it may go on
  EXPECT_LT(resident_bytes(), before + (std::size_t{64} << 20U));
  expect_others_are_served(node);
}

/// A rank that never stops talking.
TEST_F(Lies, LeaveOthersTheirTurn) {
  Node node = new_node();
  Bytes many;
  for (int i = 0; i < 4000; ++i) {
    const Bytes one = encode(Abandon{5});
    many.insert(many.end(), one.begin(), one.end());
  }
  const auto rest = node.write(liar, many);
  node.turn();
  EXPECT_LT(node.desk(liar).commands.read.load(), node.desk(liar).commands.written.load());
  EXPECT_TRUE(rest.empty());
  expect_others_are_served(node);
}

TEST(LocalFabric, KnowsNoMoreRanksThanItsTags) {
  LocalFabric fabric;
  EXPECT_THROW(fabric.connect({{}}, std::vector<std::uint32_t>(Tag::most_ranks + 1, 0U)), Error);
}

}  // namespace
}  // namespace hocket::worker
