#include "passes/align.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "ir/aggregations.hpp"

namespace hocket::passes {
namespace {

using ir::OpCode;
using ir::Rank;
using ir::Schedule;

class Aligning {
 public:
  explicit Aligning(std::span<const Schedule> schedules) : schedules_(schedules) {
    for (const Schedule& s : schedules_) {
      first_.push_back(rounds_);
      rounds_ += s.rounds.size();
    }
    together_.resize(rounds_);
    std::iota(together_.begin(), together_.end(), std::size_t{0});
  }

  std::vector<std::vector<std::uint32_t>> run() {
    join_exchanges();
    join_aggregations();
    const std::vector<std::uint32_t> times = earliest();
    std::vector<std::vector<std::uint32_t>> result;
    for (std::size_t r = 0; r < schedules_.size(); ++r) {
      auto& own = result.emplace_back();
      for (std::size_t k = 0; k < schedules_[r].rounds.size(); ++k) own.push_back(times[root(first_[r] + k)]);
    }
    return result;
  }

 private:
  std::size_t root(std::size_t round) {
    while (together_[round] != round) round = together_[round] = together_[together_[round]];
    return round;
  }

  /// The n-th message from one rank to another is the n-th that the other receives from it.
  void join_exchanges() {
    std::map<std::pair<Rank, Rank>, std::vector<std::size_t>> sends;
    visit(OpCode::send,
          [&](Rank rank, Rank peer, std::size_t round) { sends[{rank, peer}].push_back(round); });
    std::map<std::pair<Rank, Rank>, std::size_t> received;
    visit(OpCode::recv, [&](Rank rank, Rank peer, std::size_t round) {
      const auto& sent = sends[{peer, rank}];
      std::size_t& number = received[{peer, rank}];
      if (number == sent.size()) throw Error("a message is never sent");
      together_[root(round)] = root(sent[number++]);
    });
    for (const auto& [pair, rounds] : sends)
      if (received[pair] != rounds.size()) throw Error("a message is never received");
  }

  void join_aggregations() {
    for (const auto& starts : ir::match_aggregations(schedules_))
      for (const ir::Place& start : starts) together_[root(round_of(start))] = root(round_of(starts.front()));
  }

  std::size_t round_of(const ir::Place& place) const {
    const auto rank = static_cast<std::size_t>(place.rank);
    const auto& ends = schedules_[rank].rounds;
    return first_[rank] + static_cast<std::size_t>(std::ranges::upper_bound(ends, place.op) - ends.begin());
  }

  template <class Visitor>
  void visit(OpCode code, Visitor visitor) const {
    for (std::size_t r = 0; r < schedules_.size(); ++r) {
      const Schedule& s = schedules_[r];
      std::size_t round = 0;
      for (std::size_t i = 0; i < s.ops.size(); ++i) {
        while (i >= s.rounds[round]) ++round;
        if (s.ops[i].code == code) visitor(static_cast<Rank>(r), s.ops[i].peer, first_[r] + round);
      }
    }
  }

  /// Longest paths in the order of what comes after what (Kahn 1962).
  std::vector<std::uint32_t> earliest() {
    std::vector<std::vector<std::size_t>> after(rounds_);
    std::vector<std::size_t> waits_for(rounds_, 0);
    for (std::size_t r = 0; r < schedules_.size(); ++r)
      for (std::size_t k = 1; k < schedules_[r].rounds.size(); ++k) {
        const std::size_t later = root(first_[r] + k);
        after[root(first_[r] + k - 1)].push_back(later);
        ++waits_for[later];
      }
    std::vector<std::size_t> ready;
    std::size_t all = 0;
    for (std::size_t round = 0; round < rounds_; ++round)
      if (root(round) == round) {
        ++all;
        if (waits_for[round] == 0) ready.push_back(round);
      }
    std::vector<std::uint32_t> times(rounds_, 0);
    std::size_t done = 0;
    for (; done < ready.size(); ++done) {
      const std::size_t now = ready[done];
      for (const std::size_t later : after[now]) {
        times[later] = std::max(times[later], times[now] + 1);
        if (--waits_for[later] == 0) ready.push_back(later);
      }
    }
    if (done != all) throw Error("ranks wait for each other");
    return times;
  }

  std::span<const Schedule> schedules_;
  std::vector<std::size_t> first_;  ///< number of each rank's first round
  std::size_t rounds_ = 0;
  std::vector<std::size_t> together_;  ///< sets of rounds that happen at once
};

}  // namespace

std::vector<std::vector<std::uint32_t>> align(std::span<const Schedule> schedules) {
  return Aligning(schedules).run();
}

}  // namespace hocket::passes
