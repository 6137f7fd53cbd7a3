// Ranks that say what no rank says: their worker refuses them, touches no memory but theirs, uses none for
// what is only said, and serves the others as before.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "harness/seed.hpp"
#include "node_calls.hpp"
#include "worker/tag.hpp"

namespace hocket::worker {
namespace {

using namespace engine::handover;

constexpr ir::Rank ranks = 3, liar = 0;
constexpr std::size_t room = std::size_t{1} << 20U;
constexpr double seconds_of_fuzz = 3;
#ifdef __SANITIZE_ADDRESS__  // which keeps 256 MiB of what was freed, and shadows all
constexpr std::size_t most_growth = std::size_t{1} << 30U;
#else
constexpr std::size_t most_growth = std::size_t{256} << 20U;
#endif

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Memory and a process are the same for all lies; desks are new ones for each, and every other
/// time the worker maps the memory.
class Lies : public testing::Test {
 protected:
  Node new_node() {
    maps_ = !maps_;
    std::vector<engine::SharedRange> shared;
    for (const SharedMemory& memory : memories)
      if (maps_) shared.push_back(memory.range());
    return Node(ranks, bystander.pid(), Node::much, shared);
  }

  const SharedMemory& memory_of(ir::Rank rank) const { return memories[static_cast<std::size_t>(rank)]; }
  std::byte* input(ir::Rank rank) const { return memory_of(rank).data(); }
  std::byte* output(ir::Rank rank) const { return input(rank) + room; }

  /// In memory that the bystander has, too.
  Define moved(Define define, ir::Rank rank) const {
    executors::Operation& op = define.operation;
    if (op.input) op.input = op.in_place ? output(rank) : input(rank);
    if (op.output) op.output = output(rank);
    return define;
  }

  /// As call 2 on communicator 1.
  static Define defined(const executors::Operation& op, const char* algorithm) {
    Define define;
    define.number = 2;
    define.communicator = 1;
    define.algorithm = algorithm;
    define.parameters = algorithms::presets(*algorithms::find(op.collective, algorithm));
    describe(op, ranks, define);
    return define;
  }
  Define allreduce(std::size_t bytes = 64) const {
    executors::Operation op;
    op.collective = ir::Collective::allreduce;
    op.input = input(liar);
    op.output = output(liar);
    op.agreed_bytes = op.own_bytes = bytes;
    op.reduction.element_bytes = 8;
    op.reduction.kernel = kernels::find(kernels::OpKind::sum, kernels::ElementType::u64);
    return defined(op, "ring");
  }
  Define alltoall(std::size_t block = 16) const {
    executors::Operation op;
    op.collective = ir::Collective::alltoall;
    op.input = input(liar);
    op.output = output(liar);
    op.agreed_bytes = op.own_bytes = op.input_blocks.size = op.output_blocks.size = block;
    return defined(op, "linear");
  }

  /// The others, on a communicator of their own.
  void expect_others_are_served(Node& node) const {
    open(node, 1000, 99, {1, 2});
    for (ir::Rank rank = 1; rank < ranks; ++rank) {
      auto* const numbers = reinterpret_cast<std::uint64_t*>(input(rank));
      numbers[0] = numbers[1] = 10U + static_cast<unsigned>(rank);
      Define define = moved(allreduce(16), rank);
      define.number = 1001;
      define.communicator = 1000;
      describe(define.operation, 2, define);
      node.tell(rank, define);
      node.tell(rank, Start{1001, most_under_way - 1, 1});
    }
    node.settle();
    for (ir::Rank rank = 1; rank < ranks; ++rank) {
      EXPECT_EQ(node.refusal(rank), "");
      EXPECT_EQ(node.status(rank, most_under_way - 1), Status::ok);
      EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(output(rank)), 23U);
    }
  }

  void expect_refused(const std::string& reason, const std::function<void(Node&)>& say) {
    Node node = new_node();
    say(node);
    node.settle();
    EXPECT_NE(node.refusal(liar).find(reason), std::string::npos)
        << '"' << node.refusal(liar) << "\" instead of \"" << reason << '"';
    expect_others_are_served(node);
  }
  void expect_no_such_communicator(const std::string& reason, ir::Rank rank,
                                   const std::vector<ir::Rank>& members) {
    expect_refused(reason, [&](Node& node) { node.tell(liar, Open{1, {5, 0}, rank, members}); });
  }
  /// On communicator 1, and started.
  void expect_no_such_call(const std::string& reason, const Define& define) {
    for (int i = 0; i < 2; ++i)  // mapped and not
      expect_refused(reason, [&](Node& node) {
        open(node, 1, 5, {0, 1, 2});
        node.tell(liar, define);
        node.tell(liar, Start{define.number, 0, 1});
      });
  }
  template <class Change>
  void expect_no_such_call(const std::string& reason, Define define, Change change) {
    change(define);
    expect_no_such_call(reason, define);
  }

  const std::array<SharedMemory, ranks> memories{SharedMemory(2 * room), SharedMemory(2 * room),
                                                 SharedMemory(2 * room)};
  Bystander bystander;

 private:
  bool maps_ = false;
};

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
  const auto with = [&](const std::string& name, ir::Parameters parameters) {
    Define define = allreduce();
    define.algorithm = name;
    define.parameters = parameters;
    return define;
  };
  expect_no_such_call("no algorithm", with("no such", {}));
  expect_no_such_call("no algorithm", with("", {}));
  expect_no_such_call("no algorithm", with("flat", {}));  // in shared memory
  expect_no_such_call("no algorithm", with(std::string(100'000, 'x'), {}));
  for (const algorithms::Algorithm& row : algorithms::catalog())
    for (std::size_t i = 0; i < row.parameters.size(); ++i)
      for (const std::int32_t value :
           {row.parameters[i].least - 1, row.parameters[i].most + 1, std::numeric_limits<std::int32_t>::max(),
            std::numeric_limits<std::int32_t>::min()}) {
        if (row.collective != ir::Collective::allreduce || row.access != algorithms::Access::two_sided)
          continue;
        ir::Parameters parameters = algorithms::presets(row);
        parameters[i] = value;
        expect_no_such_call("parameters", with(std::string(row.name), parameters));
      }
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

// random ones

std::uint64_t odd_number(std::mt19937_64& random) {
  static constexpr std::uint64_t odd[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 63, 64, 65, 4095, 1U << 20U};
  switch (random() % 4) {
    case 0:
      return std::uint64_t{1} << random() % 64;
    case 1:
      return ~(std::uint64_t{1} << random() % 64);
    case 2:
      return odd[random() % std::size(odd)];
    default:
      return random() % 2048;
  }
}

template <class T>
void change(std::vector<T>& table, std::mt19937_64& random) {
  if (table.empty() || random() % 4 == 0)
    table.resize(ranks, static_cast<T>(odd_number(random)));
  else
    table[random() % table.size()] = static_cast<T>(odd_number(random));
}

/// One of the things that a rank says of a call.
void change(Define& define, std::mt19937_64& random) {
  executors::Operation& op = define.operation;
  const auto number = odd_number(random);
  switch (random() % 16) {
    case 0:
      return void(op.own_bytes = number);
    case 1:
      return void(op.agreed_bytes = number);
    case 2:
      return void(op.input_blocks.size = number);
    case 3:
      return void(op.output_blocks.size = number);
    case 4:
      return change(define.input_table.sizes, random);
    case 5:
      return change(define.input_table.offsets, random);
    case 6:
      return change(define.output_table.sizes, random);
    case 7:
      return change(define.output_table.offsets, random);
    case 8:
      return void(op.in_place = !op.in_place);
    case 9:
      return void(define.copies_input = !define.copies_input);
    case 10:
      return void(op.input = random() % 2 == 0 ? nullptr : op.output);
    case 11:
      return void(op.output = nullptr);
    case 12:
      return void(op.root = static_cast<ir::Rank>(random() % ranks));
    case 13:
      return void(define.parameters[random() % define.parameters.size()] = static_cast<std::int32_t>(number));
    case 14:
      return void(op.collective = static_cast<ir::Collective>(random() % ir::collective_count));
    default:
      define.kernel_type = static_cast<std::uint8_t>(random() % 32);
      op.reduction.element_bytes = random() % 2 == 0 ? 8 : number;
  }
}

/// All start the same call, of which one says something else than the others. What it touches is its own, or
/// the sanitizers tell.
TEST_F(Lies, RandomOnesOfACall) {
  std::uint64_t seed = harness::test_seed();
  const auto functions = harness::all_functions();
  const std::size_t before = resident_bytes();
  int started = 0;
  for (const Deadline end(seconds_of_fuzz); !end.passed() && !HasFailure(); ++seed) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const NodeCall call(random, ranks, functions[random() % functions.size()], 200);
    const auto rows = call.rows();
    if (rows.empty()) continue;
    const Algorithm& row = *rows[random() % rows.size()];
    Node node = new_node();
    open(node, 1, 5, {0, 1, 2});
    for (ir::Rank rank = 0; rank < ranks; ++rank) {
      Define define = moved(call.define(rank, row, 2, 1), rank);
      for (std::size_t changes = rank == liar ? 1 + random() % 3 : 0; changes > 0; --changes)
        change(define, random);
      node.tell(rank, define);
      node.tell(rank, Start{2, 0, 1});
    }
    node.settle();
    started += node.is_served(liar) ? 1 : 0;
    expect_others_are_served(node);
  }
  EXPECT_GT(started, 0);
  EXPECT_LT(resident_bytes(), before + most_growth);
}

/// Good commands in any order, with numbers that mean something now and then.
Bytes some_command(const std::vector<Define>& defines, std::mt19937_64& random) {
  const auto number = [&] { return static_cast<std::uint32_t>(random() % 4); };
  switch (random() % 11) {
    case 10:
      return encode(Share{{odd_number(random), odd_number(random), odd_number(random), odd_number(random),
                           static_cast<std::int32_t>(random() % 64)}});
    case 0:
      return encode(Open{number(), {random() % 3, 0}, 0, {0, 1, 2}});
    case 1:
      return encode(Open{number(), {random() % 3, 0}, 1, {2, 0}});
    case 2:
    case 3: {
      Define define = defines[random() % defines.size()];
      define.number = number();
      define.communicator = number();
      if (random() % 2 == 0) change(define, random);
      return encode(define);
    }
    case 4:
      return encode(Abandon{number()});
    case 5:
      return encode(Forget{number()});
    case 6:
      return encode(Close{number()});
    case 7:
      return random() % 8 == 0 ? encode(Leave{0}) : encode(Connect{{{}, {}}, {0, number(), 1}});
    case 8:
      return encode(StartElsewhere{{number(), most_under_way + number(), number()}, random() % 3});
    default:
      return encode(Start{number(), number(), number()});
  }
}

void damage(Bytes& stream, std::mt19937_64& random) {
  for (std::size_t changes = random() % 4; changes > 0 && !stream.empty(); --changes)
    stream[random() % stream.size()] = static_cast<std::byte>(random());
  if (random() % 8 == 0) stream.resize(random() % (stream.size() + 1));
}

class Streams : public Lies {
 protected:
  std::vector<Define> some_defines(std::mt19937_64& random) const {
    std::vector<Define> defines;
    const auto functions = harness::all_functions();
    for (int i = 0; i < 4; ++i) {
      const NodeCall call(random, ranks, functions[random() % functions.size()], 50);
      const auto rows = call.rows();
      if (!rows.empty())
        defines.push_back(moved(call.define(liar, *rows[random() % rows.size()], 1, 1), liar));
    }
    if (defines.empty()) defines.push_back(allreduce());
    return defines;
  }

  Bytes some_stream(std::mt19937_64& random) const {
    const auto defines = some_defines(random);
    Bytes stream;
    for (std::size_t commands = 1 + random() % 40; commands > 0; --commands) {
      const Bytes one = some_command(defines, random);
      stream.insert(stream.end(), one.begin(), one.end());
    }
    return stream;
  }

  /// In pieces of any length.
  static void say(Node& node, std::span<const std::byte> rest, std::mt19937_64& random) {
    while (!rest.empty() && node.is_served(liar)) {
      const std::size_t length = std::min<std::size_t>(rest.size(), 1 + random() % 400);
      node.write(liar, rest.first(length));
      rest = rest.subspan(length);
      node.turn();
    }
    node.settle();
  }
};

TEST_F(Streams, OfDamagedCommandsHarmNobodyElse) {
  std::uint64_t seed = harness::test_seed();
  const std::size_t before = resident_bytes();
  for (const Deadline end(seconds_of_fuzz); !end.passed() && !HasFailure(); ++seed) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Bytes stream = some_stream(random);
    damage(stream, random);
    Node node = new_node();
    say(node, stream, random);
    expect_others_are_served(node);
  }
  EXPECT_LT(resident_bytes(), before + most_growth);
}

TEST_F(Streams, OfNonsenseHarmNobodyElse) {
  std::uint64_t seed = harness::test_seed();
  for (const Deadline end(seconds_of_fuzz / 3); !end.passed() && !HasFailure(); ++seed) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Bytes stream(random() % 3000);
    for (std::byte& byte : stream) byte = static_cast<std::byte>(random());
    // often of a kind that there is
    if (random() % 2 == 0 && stream.size() > sizeof(CommandHead)) {
      const CommandHead head{static_cast<CommandKind>(random() % 12),
                             static_cast<std::uint32_t>(random() % 2000) & longest_command};
      std::memcpy(stream.data(), &head, sizeof head);
    }
    Node node = new_node();
    say(node, stream, random);
    expect_others_are_served(node);
  }
}

TEST(LocalFabric, KnowsNoMoreRanksThanItsTags) {
  LocalFabric fabric;
  EXPECT_THROW(fabric.connect({{}}, std::vector<std::uint32_t>(Tag::most_ranks + 1, 0U)), Error);
}

}  // namespace
}  // namespace hocket::worker
