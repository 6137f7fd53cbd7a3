// What ranks and their node's worker share: the stream, the commands in it, the desks, and the door to them.
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/handover/commands.hpp"
#include "engine/handover/desks.hpp"
#include "engine/handover/door.hpp"
#include "engine/handover/stream.hpp"
#include "engine/unix_sockets.hpp"
#include "harness/seed.hpp"
#include "kernels/kernels.hpp"

namespace hocket::engine::handover {
namespace {

// the stream

Bytes random_bytes(std::mt19937_64& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Stream, CarriesRecordsLongerThanItself) {
  std::mt19937_64 random(harness::test_seed());
  const auto memory = std::make_unique<StreamMemory>();
  StreamWriter writer(*memory);
  StreamReader reader(*memory);
  const Bytes sent = random_bytes(random, 5 * StreamMemory::capacity + 77);
  Bytes received(sent.size());
  for (std::size_t in = 0, out = 0; out < sent.size();) {
    in +=
        writer.write(std::span(sent).subspan(in, std::min(sent.size() - in, std::size_t{random() % 40'000})));
    out += reader.read(
        std::span(received).subspan(out, std::min(sent.size() - out, std::size_t{random() % 40'000})));
  }
  EXPECT_EQ(sent, received);
  EXPECT_EQ(reader.available(), 0U);
}

TEST(Stream, TakesNoMoreThanFits) {
  const auto memory = std::make_unique<StreamMemory>();
  StreamWriter writer(*memory);
  const Bytes bytes(StreamMemory::capacity + 5);
  EXPECT_EQ(writer.write(bytes), StreamMemory::capacity);
  EXPECT_EQ(writer.write(bytes), 0U);
}

TEST(Stream, NoticesAWriterWhoKeepsToNoRules) {
  const auto memory = std::make_unique<StreamMemory>();
  StreamReader reader(*memory);
  memory->written = std::uint64_t{1} << 40U;
  EXPECT_TRUE(reader.is_broken());
  std::array<std::byte, 8> some{};
  EXPECT_EQ(reader.read(some), 0U);
}

// commands

std::span<const std::byte> body_of(const Bytes& command) {
  return std::span(command).subspan(sizeof(CommandHead));
}

Define alltoallv_of_three(const std::vector<std::size_t>& sizes, const std::vector<std::ptrdiff_t>& offsets) {
  executors::Operation op;
  op.collective = ir::Collective::alltoall;
  op.input = sizes.data();
  op.output = const_cast<std::size_t*>(sizes.data());
  op.input_blocks = {0, sizes.data(), offsets.data()};
  op.output_blocks = {16, nullptr, nullptr};
  Define define;
  define.number = 7;
  define.communicator = 3;
  define.recipe = "pairwise reordered";
  define.words = {1, 2, -1};
  EXPECT_TRUE(describe(op, 3, define));
  return define;
}

TEST(Commands, SayACallWithItsTables) {
  const std::vector<std::size_t> sizes = {1, 0, 5};
  const std::vector<std::ptrdiff_t> offsets = {10, 0, -3};
  const Bytes command = encode(alltoallv_of_three(sizes, offsets));
  const auto again = decode<Define>(body_of(command));
  EXPECT_EQ(again.number, 7U);
  EXPECT_EQ(again.recipe, "pairwise reordered");
  EXPECT_EQ(again.words.root, -1);
  const executors::Operation op = described(again);
  EXPECT_EQ(op.collective, ir::Collective::alltoall);
  EXPECT_EQ(op.input, sizes.data());
  EXPECT_EQ(op.input_blocks.size_of(2), 5U);
  EXPECT_EQ(op.input_blocks.offset_of(2), -3);
  EXPECT_EQ(op.output_blocks.offset_of(2), 32);
  EXPECT_EQ(op.output_blocks.sizes, nullptr);
}

TEST(Commands, EqualCallsAreEqualBytes) {
  const std::vector<std::size_t> sizes = {1, 0, 5};
  const std::vector<std::ptrdiff_t> offsets = {10, 0, -3};
  EXPECT_EQ(encode(alltoallv_of_three(sizes, offsets)), encode(alltoallv_of_three(sizes, offsets)));
}

TEST(Commands, NameAKernelByWhatItDoes) {
  executors::Operation op;
  op.collective = ir::Collective::allreduce;
  op.reduction.element_bytes = 8;
  op.reduction.kernel = kernels::find(kernels::OpKind::max, kernels::ElementType::f64);
  Define define;
  ASSERT_TRUE(describe(op, 2, define));
  const auto again = decode<Define>(body_of(encode(define)));
  EXPECT_EQ(described(again).reduction.kernel, op.reduction.kernel);
  op.reduction.kernel = nullptr;  // the program's own
  EXPECT_FALSE(describe(op, 2, define));
}

TEST(Commands, SayWhoServesWhom) {
  const Connect connect{{{std::byte{1}}, {std::byte{2}, std::byte{3}}}, {0, 0, 1}};
  const auto again = decode<Connect>(body_of(encode(connect)));
  EXPECT_EQ(again.addresses, connect.addresses);
  EXPECT_EQ(again.process_of, connect.process_of);
  EXPECT_TRUE(again.hosts.empty());
  EXPECT_THROW(decode<Connect>(body_of(encode(Connect{{{std::byte{1}}}, {1}}))), Error);
}

TEST(Commands, SayWhereWorkersAre) {
  const std::vector<InternetAddresses> hosts = {{1, 2, 3, 4}, {5}};
  const Connect connect{{{std::byte{1}}, {std::byte{2}}}, {0, 1}, hosts};
  EXPECT_EQ(decode<Connect>(body_of(encode(connect))).hosts, hosts);
  EXPECT_THROW(decode<Connect>(body_of(encode(Connect{{{std::byte{1}}}, {0}, hosts}))), Error);
}

TEST(Commands, ASecondStartIsTold10TimesShorter) {
  executors::Operation op;
  op.collective = ir::Collective::alltoall;
  op.input_blocks = op.output_blocks = {16, nullptr, nullptr};
  Define define;
  define.recipe = "linear";
  ASSERT_TRUE(describe(op, 3, define));
  const std::size_t second = encode(Start{}).size();
  EXPECT_GE(encode(define).size() + second, 10 * second);
}

TEST(Commands, SayWhereAWordIs) {
  const auto again = decode<StartElsewhere>(body_of(encode(StartElsewhere{{7, 2000, 9}, 0x7fff'0000'0001})));
  EXPECT_EQ(again.start.definition, 7U);
  EXPECT_EQ(again.start.completion, 2000U);
  EXPECT_EQ(again.start.signature, 9U);
  EXPECT_EQ(again.word, 0x7fff'0000'0001U);
}

template <class Command>
void is_refused_or_understood(const Bytes& body) {
  try {
    decode<Command>(body);
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
  }
}

TEST(Commands, DamagedOnesAreRefusedOrUnderstood) {
  std::mt19937_64 random(harness::test_seed());
  const std::vector<std::size_t> sizes = {1, 0, 5};
  const std::vector<std::ptrdiff_t> offsets = {10, 0, -3};
  const Bytes good[] = {encode(alltoallv_of_three(sizes, offsets)),
                        encode(Open{3, {1, 2}, 0, {0, 1, 2}, 2, {0, 1, 1, 0, 0, 0}, {0, 0, 1}}),
                        encode(Connect{{{std::byte{1}}, {}}, {0, 1}}), encode(Start{}), encode(Leave{})};
  for (int i = 0; i < 20'000; ++i) {
    const auto whole = body_of(good[random() % std::size(good)]);
    Bytes body(whole.begin(), whole.end());
    for (std::size_t changes = random() % 4; changes > 0; --changes)
      body[random() % body.size()] = static_cast<std::byte>(random());
    if (random() % 2 == 0) body.resize(random() % (body.size() + 9));
    is_refused_or_understood<Define>(body);
    is_refused_or_understood<Open>(body);
    is_refused_or_understood<Connect>(body);
    is_refused_or_understood<Start>(body);
    is_refused_or_understood<Abandon>(body);
    is_refused_or_understood<Forget>(body);
    is_refused_or_understood<Close>(body);
    is_refused_or_understood<Leave>(body);
  }
}

// desks

/// As the door hands them over.
DeskFiles files_of(const Desks& desks) {
  return {Descriptor::moved_up(dup(desks.file())), Descriptor::moved_up(dup(desks.bell()))};
}

TEST(Desks, AreForTheirVersionAlone) {
  const Desks desks = Desks::create(2, "this version");
  const Desks same = Desks::attach(files_of(desks), "this version");
  EXPECT_EQ(same.count(), 2U);
  EXPECT_THROW(Desks::attach(files_of(desks), "another version"), Error);
}

bool rings(const Desks& desks) {
  pollfd bell{desks.alarm(), POLLIN, 0};
  return poll(&bell, 1, 0) == 1;
}

TEST(Desks, RingForAWorkerThatSleepsAndForNoOther) {
  Desks worker = Desks::create(1, "this version");
  const Desks rank = Desks::attach(files_of(worker), "this version");
  rank.ring();
  EXPECT_FALSE(rings(worker)) << "it is awake";
  EXPECT_FALSE(worker.fall_asleep(0)) << "something was told before";
  worker.wake_up(false);
  EXPECT_TRUE(worker.fall_asleep(1));
  rank.ring();
  rank.ring();
  EXPECT_TRUE(rings(worker));
  worker.wake_up(true);
  EXPECT_FALSE(rings(worker));
  EXPECT_TRUE(worker.fall_asleep(3));
}

TEST(Desks, RingForAWorkerThatHasGoneWithoutASignal) {
  auto worker = std::make_unique<Desks>(Desks::create(1, "this version"));
  const Desks rank = Desks::attach(files_of(*worker), "this version");
  ASSERT_TRUE(worker->fall_asleep(0));
  worker.reset();
  rank.ring();
  EXPECT_EQ(rank.header().told.load(), 1U);
}

/// The program may close what it does not know, and open something of its own under that number.
TEST(Desks, WriteNothingWhereTheBellWas) {
  const Desks worker = Desks::create(1, "this version");
  const Desks rank = Desks::attach(files_of(worker), "this version");
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(dup2(ends[0], rank.bell()), rank.bell());
  ASSERT_TRUE(worker.fall_asleep(0));
  rank.ring();
  pollfd other{ends[1], POLLIN, 0};
  EXPECT_EQ(poll(&other, 1, 0), 0);
  EXPECT_TRUE(worker.has_mute_ranks());
  Desks::attach(files_of(worker), "this version").ring();
  EXPECT_TRUE(rings(worker)) << "another rank has its bell, and is heard";
  for (const int file : {ends[0], ends[1], rank.bell()}) close(file);
}

TEST(Desks, AreNotRungForEverByWhoShutsTheBell) {
  Desks worker = Desks::create(1, "this version");
  shutdown(worker.bell(), SHUT_WR);
  ASSERT_TRUE(rings(worker));
  worker.wake_up(true);
  EXPECT_EQ(worker.alarm(), -1);
  EXPECT_TRUE(worker.has_mute_ranks());
}

/// The worker sleeps without any bound: a ring that is lost is found by the test's.
TEST(Desks, WakeTheWorkerForEverythingThatIsTold) {
  constexpr std::uint32_t ranks = 3, times = 20'000;
  Desks worker = Desks::create(ranks, "this version");
  std::vector<std::thread> tellers;
  for (std::uint32_t i = 0; i < ranks; ++i)
    tellers.emplace_back([rank = Desks::attach(files_of(worker), "this version")] {
      for (std::uint32_t turn = 0; turn < times; ++turn) rank.ring();
    });
  const Deadline end(60);
  bool is_lost = false;
  for (std::uint32_t heard = 0; heard < ranks * times && !is_lost;) {
    heard = worker.header().told.load();
    if (heard == ranks * times) break;
    bool has_rung = false;
    if (worker.fall_asleep(heard)) {
      pollfd bell{worker.alarm(), POLLIN, 0};
      has_rung = poll(&bell, 1, 20'000) == 1;
      is_lost = !has_rung || end.passed();
    }
    worker.wake_up(has_rung);
  }
  for (std::thread& teller : tellers) teller.join();
  EXPECT_FALSE(is_lost);
}

TEST(Desks, AreNoOtherFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_THROW(Desks::attach({Descriptor(ends[0]), {}}, "this version"), Error);
  close(ends[1]);
}

TEST(Desks, KnowWhoLives) {
  const Desks desks = Desks::create(1, "this version");
  int told[2];
  int end[2];
  ASSERT_EQ(pipe(told), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t child = fork();
  if (child == 0) {
    char mark = desks.take_worker_place() && desks.take_place(0) ? 'y' : 'n';
    if (write(told[1], &mark, 1) != 1 || read(end[0], &mark, 1) < 0) _exit(1);
    _exit(0);
  }
  char mark = 0;
  ASSERT_EQ(read(told[0], &mark, 1), 1);
  EXPECT_EQ(mark, 'y');
  EXPECT_TRUE(desks.has_worker());
  EXPECT_TRUE(desks.is_taken(0));
  EXPECT_FALSE(desks.take_place(0));
  ASSERT_EQ(write(end[1], "!", 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(desks.has_worker());
  EXPECT_FALSE(desks.is_taken(0));
  for (const int file : {told[0], told[1], end[0], end[1]}) close(file);
}

// the door

Entrance some_entrance(char secret = '5') {
  static int count = 0;
  char name[33];
  std::snprintf(name, sizeof name, "%016x%016x", static_cast<unsigned>(getpid()),
                static_cast<unsigned>(count++));
  return *parse_entrance(std::string(name) + ":" + std::string(32, secret));
}

TEST(Door, TheEntranceIsWhatHocketExecWrites) {
  EXPECT_TRUE(parse_entrance(std::string(32, 'a') + ":" + std::string(32, '0')));
  for (const std::string& text :
       {std::string(), std::string(65, 'a'), std::string(32, 'g') + ":" + std::string(32, '0'),
        std::string(31, 'a') + ":" + std::string(33, '0'), std::string(32, 'a') + ":" + std::string(33, '0')})
    EXPECT_FALSE(parse_entrance(text)) << text;
}

TEST(Door, ReadsTheEntrancesOfSeveralWorkers) {
  const std::string one = std::string(32, 'a') + ":" + std::string(32, '0');
  const std::string other = std::string(32, 'b') + ":" + std::string(32, '1');
  const auto both = parse_entrances(one + "," + other);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], *parse_entrance(one));
  EXPECT_EQ(both[1], *parse_entrance(other));
  for (const std::string& text : {std::string(), one + ",", "," + one, one + other, one + ", " + other})
    EXPECT_TRUE(parse_entrances(text).empty()) << text;
}

/// Serves until one who was sent away or let in has ended, and returns how that one has.
template <class Visit>
int while_served(const Entrance& entrance, const Desks& desks, Visit visit) {
  Door door(entrance);
  const pid_t child = fork();
  if (child == 0) _exit(visit());
  int status = 0;
  for (int turn = 0; turn < 10'000 && waitpid(child, &status, WNOHANG) == 0; ++turn) {
    door.serve(desks);
    usleep(1000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int enters(const Entrance& entrance) {
  try {
    return enter(entrance, 5).bell ? 0 : 1;
  } catch (const Error&) {
    return 2;
  }
}

TEST(Door, LetsInWhoKnowsTheSecret) {
  const Desks desks = Desks::create(1, "this version");
  const Entrance entrance = some_entrance();
  EXPECT_EQ(while_served(entrance, desks, [&] { return enters(entrance); }), 0);
}

TEST(Door, SendsAwayWhoDoesNot) {
  const Desks desks = Desks::create(1, "this version");
  const Entrance entrance = some_entrance();
  Entrance wrong = entrance;
  wrong.secret.fill('6');
  EXPECT_EQ(while_served(entrance, desks, [&] { return enters(wrong); }), 2);
}

TEST(Door, SendsAwayWhoSaysMoreOrLess) {
  const Desks desks = Desks::create(1, "this version");
  const Entrance entrance = some_entrance();
  for (const std::size_t length : {1, 31, 33, 4000}) {
    const int result = while_served(entrance, desks, [&] {
      const Descriptor socket = new_unix_socket();
      if (!connect_to(socket, entrance.address())) return 3;
      const std::string words(length, '5');
      send_packet(socket, std::as_bytes(std::span(words)));
      for (;; usleep(1000)) {
        const ReceivedFiles received = receive_files(socket);
        if (received.files[0]) return 1;
        if (received.closed) return 0;
      }
    });
    EXPECT_EQ(result, 0) << length;
  }
}

TEST(Door, IsNotHeldUpByTheSilent) {
  const Desks desks = Desks::create(1, "this version");
  const Entrance entrance = some_entrance();
  const int result = while_served(entrance, desks, [&] {
    std::vector<Descriptor> silent;
    for (int i = 0; i < 20; ++i) {
      silent.push_back(new_unix_socket());
      if (!connect_to(silent.back(), entrance.address())) return 3;
    }
    return enters(entrance);
  });
  EXPECT_EQ(result, 0);
}

TEST(Door, NobodyBehindItIsAnError) {
  EXPECT_THROW(enter(some_entrance(), 0.05), Error);
}

}  // namespace
}  // namespace hocket::engine::handover
