// Ranks whose networks are fake, all but the last of which are on one node: threads, or objects of one
// thread.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "harness/message_rounds.hpp"
#include "harness/one_process.hpp"
#include "transports/fake/wire.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::harness {

class OneNode {
 public:
  explicit OneNode(Rank ranks)
      : ranks_(all(ranks - 1)),
        memory_(std::make_unique<Mailbox::Memory[]>(ranks_.size())),
        stages_(std::make_unique<NodeStages::Stage[]>(ranks_.size() *
                                                      NodeStages::stages_of_each(ranks_.size()))) {}

  void open(Network& network, Rank rank) {
    if (has(rank))
      network.open_mail(
          transports::shm::NodeMail(reinterpret_cast<std::byte*>(memory_.get()), NodeRanks(ranks_), rank));
  }
  /// After open(), to one of the node's. What it sees of the others.
  OneProcess& lend(Network& network, std::size_t least_bytes, bool readable = true, bool pays = true) {
    auto memory = std::make_unique<OneProcess>(readable);
    OneProcess& seen = *memory;
    network.open_loans(std::make_unique<transports::mpi::Loans>(NodeRanks(ranks_), std::move(memory),
                                                                least_bytes, [pays] { return pays; }));
    return seen;
  }
  /// After open(), to one of the node's.
  void stage(Network& network, Rank rank, std::size_t least_bytes) {
    auto* const memory = reinterpret_cast<std::byte*>(stages_.get());
    network.open_stages(std::make_unique<NodeStages>(memory, NodeRanks(ranks_), rank), least_bytes);
  }
  bool has(Rank rank) const { return std::ranges::find(ranks_, rank) != ranks_.end(); }

 private:
  using Mailbox = transports::shm::Mailbox;
  using NodeRanks = transports::shm::NodeRanks;
  using NodeStages = transports::shm::NodeStages;
  std::vector<Rank> ranks_;
  std::unique_ptr<Mailbox::Memory[]> memory_;
  std::unique_ptr<NodeStages::Stage[]> stages_;
};

/// How ranks of a node reach each other, beside the network.
enum class Near { not_at_all, by_mail, by_mail_and_loans, by_mail_and_stages };

struct Way {
  transports::fake::WireSettings settings;
  Near near = Near::not_at_all;
};

/// Nobody leaves before all have come to the end: a port that has gone receives nothing.
inline void in_threads(Rank ranks, const Way& way, std::size_t part_bytes,
                       const std::function<void(Rank, Network&)>& body) {
  transports::fake::Wire wire(ranks, way.settings);
  OneNode node(ranks);
  std::vector<std::unique_ptr<Network>> networks;
  for (Rank r = 0; r < ranks; ++r) {
    networks.push_back(std::make_unique<Network>(wire.port(r), part_bytes));
    if (way.near != Near::not_at_all) node.open(*networks.back(), r);
    if (way.near == Near::by_mail_and_loans && node.has(r)) node.lend(*networks.back(), 1);
    if (way.near == Near::by_mail_and_stages && node.has(r)) node.stage(*networks.back(), r, 1);
  }
  std::vector<std::thread> threads;
  for (Rank r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] { body(r, *networks[static_cast<std::size_t>(r)]); });
  for (std::thread& t : threads) t.join();
}

/// Two ranks of one node; the third is elsewhere.
struct Mates {
  explicit Mates(const transports::fake::WireSettings& settings = {}) : wire(3, settings) {}
  transports::fake::Wire wire;
  OneNode node{3};
  Network first{wire.port(0)}, second{wire.port(1)};
  const std::vector<Rank> members = all(3);
  Messages one{opened(first, 0), world, members}, two{opened(second, 1), world, members};

 private:
  Network& opened(Network& network, Rank rank) {
    node.open(network, rank);
    return network;
  }
};

}  // namespace hocket::harness
