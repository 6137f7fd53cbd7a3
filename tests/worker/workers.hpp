// Worker processes of a test, and what their ranks do: no MPI.
#pragma once

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/handover/client.hpp"
#include "engine/handover/door.hpp"
#include "harness/forked_ranks.hpp"
#include "harness/rights.hpp"
#include "worker/daemon.hpp"
#include "worker/fabric.hpp"
#include "worker/remote/forwarder.hpp"
#include "worker/remote/remote_worker.hpp"

namespace hocket::worker {

using namespace engine::handover;
using test::ForkedRanks;

inline constexpr const char* test_version = "test";

/// What all processes of a test see.
struct Board {
  std::atomic<int> addresses_there;
  std::atomic<int> under_way;  // ranks that have seen an exchange end
  std::atomic<int> finished;   // and that have seen all of theirs end
  std::atomic<int> lied;       // that have said what no rank says
  std::uint32_t bytes[4];
  std::byte address[4][DesksHeader::longest_address];

  static void wait_for(const std::atomic<int>& count, int all) {
    for (const Deadline end(20); count.load() < all && !end.passed();) usleep(1000);
  }
};

inline Entrance entrance_number(int node, pid_t test) {
  char text[66];
  std::snprintf(text, sizeof text, "%024x%08x:%032x", static_cast<unsigned>(test),
                static_cast<unsigned>(node), 77U);
  return *parse_entrance(text);
}

/// UCX is asked in a child: what it starts would not outlive a fork.
inline bool has_network() {
  return harness::works_in_a_child([] {
    try {
      return open_network() != nullptr;
    } catch (const std::exception&) {
      return false;
    }
  });
}

/// Where a node's worker is.
enum class Seat { beside, remote };

inline std::string name_of(Seat seat) {
  return seat == Seat::beside ? "Beside" : "Remote";
}

/// Daemons of so many nodes, each with so many ranks: rank r is on node r / ranks_per_node.
class Workers : public testing::Test {
 protected:
  explicit Workers(Seat seat = Seat::beside) : seat_(seat) {}

  void start(int nodes, int ranks_per_node) {
    nodes_ = nodes;
    ranks_per_node_ = ranks_per_node;
    void* const memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board_ = new (memory) Board{};
    for (int node = 0; node < nodes; ++node) daemons_.push_back(start_daemon(node));
  }

  ~Workers() override {
    for (const auto& processes : {daemons_, remote_halves_})
      for (const pid_t pid : processes) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
      }
    if (board_) munmap(board_, sizeof(Board));
  }

  template <class Work>
  static pid_t start_process(Work work) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    alarm(60);
    try {
      _exit(work() ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "worker: %s\n", error.what());
      _exit(1);
    }
  }

  pid_t start_daemon(int node) {
    const Employment employment{entrance_number(node, getpid()), static_cast<std::uint32_t>(ranks_per_node_),
                                getpid(), test_version};
    if (seat_ == Seat::remote) return start_halves(employment);
    return start_process([&] {
      Daemon(employment).run();
      return true;
    });
  }

  /// That of the host.
  pid_t start_halves(const Employment& employment) {
    constexpr tcp::Key key{'k', 'e', 'y'};
    const Descriptor listener = tcp::listen_at({"127.0.0.1", "0"});
    const tcp::Place place = tcp::place_in(tcp::name_of(listener));
    remote_halves_.push_back(start_process([&] {
      Descriptor connection;
      while (!(connection = tcp::accept_from(listener))) usleep(1000);
      return remote::RemoteWorker(remote::hear(std::move(connection), key, test_version)).run();
    }));
    return start_process([&] {
      const ServedRanks::Terms terms{employment.desks, 0, 0};
      return remote::Forwarder(employment, remote::hire(place, key, terms, test_version)).run();
    });
  }

  int all_ranks() const { return nodes_ * ranks_per_node_; }
  /// Who exchanges with whom: all, but for the last ones.
  int partners() const { return all_ranks() - liars_; }

  /// In a rank: at its desk, and its worker knows all others.
  std::unique_ptr<Client> arrive(int rank) {
    const int node = rank / ranks_per_node_, desk = rank % ranks_per_node_;
    Desks desks = Desks::attach(enter(entrance_number(node, getppid()), 20), test_version);
    auto client = std::make_unique<Client>(std::move(desks),
                                           Client::Place{static_cast<std::uint32_t>(desk), rank, 2, 20});
    if (desk == 0) introduce(*client, node);
    return client;
  }

  void introduce(Client& client, int node) {
    const auto address = client.worker_address();
    std::copy(address.begin(), address.end(), board_->address[node]);
    board_->bytes[node] = static_cast<std::uint32_t>(address.size());
    board_->addresses_there.fetch_add(1);
    Board::wait_for(board_->addresses_there, nodes_);
    Connect connect;
    for (int i = 0; i < nodes_; ++i)
      connect.addresses.emplace_back(board_->address[i], board_->address[i] + board_->bytes[i]);
    for (int r = 0; r < all_ranks(); ++r)
      connect.process_of.push_back(static_cast<std::uint32_t>(r / ranks_per_node_));
    client.tell(encode(connect));
  }

  /// An alltoall of these buffers, as number 2 on communicator 1.
  Define alltoall(const std::vector<int>& input, std::vector<int>& output) {
    executors::Operation op;
    op.collective = ir::Collective::alltoall;
    op.input = input.data();
    op.output = output.data();
    const std::size_t block = input.size() / static_cast<std::size_t>(partners()) * sizeof(int);
    op.agreed_bytes = op.own_bytes = op.input_blocks.size = op.output_blocks.size = block;
    Define define;
    define.number = 2;
    define.communicator = 1;
    define.recipe = "linear";
    describe(op, partners(), define);
    return define;
  }

  void open(Client& client, int rank) {
    Open command{1, {7, 9}, rank, {}};
    for (int r = 0; r < partners(); ++r) command.members.push_back(r);
    client.tell(encode(command));
  }

  static Status wait(Client& client, std::uint32_t completion) {
    for (const Deadline end(20); !end.passed(); usleep(200)) {
      const Status status = status_of(client.completion(completion).load());
      if (status != Status::pending) return status;
      if (!client.is_well()) return Status::peer_dead;
    }
    return Status::pending;
  }

  /// So many alltoalls in a row, of blocks of so many numbers.
  std::string exchange(int rank, std::size_t block, std::uint32_t times) {
    const auto client = arrive(rank);
    open(*client, rank);
    const std::size_t count = block * static_cast<std::size_t>(partners());
    std::vector<int> input(count), output(count);
    client->tell(encode(alltoall(input, output)));
    for (std::uint32_t call = 0; call < times; ++call) {
      for (std::size_t i = 0; i < count; ++i)
        input[i] = static_cast<int>(call * 1000 + static_cast<std::size_t>(rank) * 100 + i / block);
      const std::uint32_t completion = *client->take_completion();
      client->tell(encode(Start{2, completion, 1}));
      if (const Status status = wait(*client, completion); status != Status::ok)
        return "status " + std::to_string(static_cast<int>(status)) + " in call " + std::to_string(call) +
               " " + client->words();
      client->give_back(completion);
      if (call == 0) board_->under_way.fetch_add(1);
      for (std::size_t i = 0; i < count; ++i)
        if (output[i] != static_cast<int>(call * 1000 + i / block * 100 + static_cast<std::size_t>(rank)))
          return "wrong at " + std::to_string(i);
    }
    client->tell(encode(Close{1}));
    board_->finished.fetch_add(1);
    Board::wait_for(board_->finished, partners());  // as MPI_Finalize does, or the worker gives the rest up
    return "right";
  }

  static bool ends(pid_t pid, int* status) {
    for (const Deadline end(20); !end.passed(); usleep(1000))
      if (waitpid(pid, status, WNOHANG) == pid) return true;
    return false;
  }

  int nodes_ = 0, ranks_per_node_ = 0;
  int liars_ = 0;
  const Seat seat_;
  Board* board_ = nullptr;
  std::vector<pid_t> daemons_;  ///< or the host's halves of them
  std::vector<pid_t> remote_halves_;
};

/// With a worker beside its ranks, and with a remote one.
class WorkersAnywhere : public Workers, public testing::WithParamInterface<Seat> {
 protected:
  WorkersAnywhere() : Workers(GetParam()) {}

  /// What the test needs a network for, if not for a remote worker.
  void SetUp() override {
    if (GetParam() == Seat::remote && !has_network()) GTEST_SKIP() << "no link: built without UCX";
  }
};

}  // namespace hocket::worker
