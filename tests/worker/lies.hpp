// Ranks of one node, of which one lies to its worker, and what has to hold whatever it says.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "node_calls.hpp"

namespace hocket::worker {

using namespace engine::handover;

inline constexpr ir::Rank ranks = 3, liar = 0;
inline constexpr std::size_t room = std::size_t{1} << 20U;

/// Of this process.
inline std::size_t resident_bytes() {
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
  static Define defined(const executors::Operation& op, const char* recipe) {
    Define define;
    define.number = 2;
    define.communicator = 1;
    define.recipe = recipe;
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
    EXPECT_FALSE(node.refusal(liar).empty());
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

}  // namespace hocket::worker
