// A network that reduces, between ranks that are threads: what executors need of one, and no more. Checks
// what switches would take for granted.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "executors/aggregator.hpp"

namespace hocket::harness {

using executors::Aggregation;
using ir::Rank;

class ReducingNetwork {
 public:
  /// The n-th aggregation of a group.
  using Name = std::pair<std::vector<Rank>, std::size_t>;

  Status start(const Name& name, std::size_t member, const Aggregation& aggregation) {
    const std::scoped_lock lock(mutex_);
    Meeting& meeting = meetings_[name];
    meeting.parts.resize(name.first.size());
    meeting.parts[member] = aggregation;
    if (++meeting.started < name.first.size()) return Status::ok;
    return fold(meeting) ? Status::ok : Status::failed;
  }

  Status settle(const Name& name, std::size_t member) {
    const std::scoped_lock lock(mutex_);
    Meeting& meeting = meetings_[name];
    if (meeting.started < name.first.size()) return Status::pending;
    const Aggregation& part = meeting.parts[member];
    if (part.target) std::memcpy(part.target, meeting.result.data(), part.bytes);
    if (++meeting.settled == name.first.size()) meetings_.erase(name);
    return Status::ok;
  }

  bool is_idle() const { return meetings_.empty(); }

 private:
  struct Meeting {
    std::vector<Aggregation> parts;
    std::size_t started = 0, settled = 0;
    std::vector<std::byte> result;
  };

  /// In the order of the group. False where its members do not mean the same.
  static bool fold(Meeting& meeting) {
    const Aggregation& first = meeting.parts.front();
    for (const Aggregation& part : meeting.parts) {
      if (part.kind != first.kind || part.root != first.root || part.bytes != first.bytes) return false;
      if (part.source) add(meeting.result, part);
    }
    return true;
  }

  static void add(std::vector<std::byte>& sum, const Aggregation& part) {
    if (sum.empty()) return sum.assign(part.source, part.source + part.bytes);
    const void* const operands[] = {sum.data(), part.source};
    (*part.reduction)(sum.data(), operands, 2, part.bytes / part.reduction->element_bytes);
  }

  std::mutex mutex_;
  std::map<Name, Meeting> meetings_;
};

/// One rank's, for one operation. Now and then it is late; after `fail_after` aggregations it fails.
class NetworkAggregator final : public executors::Aggregator {
 public:
  struct Faults {
    std::uint64_t seed = 1;
    double pending = 0;
    std::size_t fail_after = static_cast<std::size_t>(-1);
  };

  NetworkAggregator(ReducingNetwork& network, const ir::Schedule& schedule, const Faults& faults)
      : network_(network), schedule_(schedule), faults_(faults), random_(faults.seed) {}

  Status start(const Aggregation& aggregation) noexcept override {
    if (started_ == faults_.fail_after) return Status::peer_dead;
    if (is_late()) return Status::pending;
    ++started_;
    const auto& members = schedule_.groups[aggregation.group];
    const ReducingNetwork::Name name{members, of_group_[members]++};
    names_[{aggregation.group, aggregation.step}] = name;
    return network_.start(name, member(members), aggregation);
  }

  Status settle(std::uint32_t group, std::uint32_t step) noexcept override {
    if (is_late()) return Status::pending;
    const ReducingNetwork::Name& name = names_.at({group, step});
    return network_.settle(name, member(name.first));
  }

 private:
  std::size_t member(const std::vector<Rank>& members) const {
    return static_cast<std::size_t>(std::ranges::find(members, schedule_.rank) - members.begin());
  }
  bool is_late() { return std::uniform_real_distribution<>()(random_) < faults_.pending; }

  ReducingNetwork& network_;
  const ir::Schedule& schedule_;
  Faults faults_;
  std::mt19937_64 random_;
  std::size_t started_ = 0;
  std::map<std::vector<Rank>, std::size_t> of_group_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ReducingNetwork::Name> names_;
};

}  // namespace hocket::harness
