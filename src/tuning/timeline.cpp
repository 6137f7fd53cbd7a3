#include "tuning/timeline.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "passes/loads.hpp"

namespace hocket::tuning {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Rank;
using ir::Schedule;

/// Messages that have been sent and not yet received, of each pair in their order.
class Mailbox {
 public:
  void put(const Sent& message) { waiting_[{message.from, message.to}].push_back(message); }
  const Sent* first(Rank from, Rank to, std::size_t skip) const {
    const auto found = waiting_.find({from, to});
    return found == waiting_.end() || found->second.size() <= skip ? nullptr : &found->second[skip];
  }
  void drop_first(Rank from, Rank to) { waiting_[{from, to}].pop_front(); }

 private:
  std::map<std::pair<Rank, Rank>, std::deque<Sent>> waiting_;
};

/// One rank on its way through its rounds.
class Walker {
 public:
  explicit Walker(const Schedule& schedule) : schedule_(schedule) {}

  bool is_done() const { return round_ == schedule_.rounds.size(); }

  /// As far as possible; whether that was anywhere.
  bool advance(Mailbox& mailbox, std::vector<Sent>& all) {
    const std::size_t before = round_ * 2 + (has_sent_ ? 1 : 0);
    while (!is_done()) {
      if (!std::exchange(has_sent_, true)) send(mailbox);
      if (!receive(mailbox, all)) break;
      ++round_;
      has_sent_ = false;
    }
    return round_ * 2 + (has_sent_ ? 1 : 0) != before;
  }

 private:
  std::span<const Op> ops() const {
    const std::size_t first = round_ == 0 ? 0 : schedule_.rounds[round_ - 1];
    return std::span(schedule_.ops).subspan(first, schedule_.rounds[round_] - first);
  }

  void send(Mailbox& mailbox) const {
    for (const Op& op : ops())
      if (op.code == OpCode::aggregate)
        throw Error("when aggregations are on their way is not known");
      else if (op.code == OpCode::send)
        mailbox.put({schedule_.rank, op.peer, passes::chunks_in(schedule_, op), ready_});
  }

  /// All of the round, or nothing.
  bool receive(Mailbox& mailbox, std::vector<Sent>& all) {
    std::map<Rank, std::size_t> seen;
    for (const Op& op : ops())
      if (op.code == OpCode::recv && !mailbox.first(op.peer, schedule_.rank, seen[op.peer]++)) return false;
    std::uint32_t last = 0;
    for (const auto& [peer, count] : seen)
      for (std::size_t i = 0; i < count; ++i) {
        all.push_back(*mailbox.first(peer, schedule_.rank, 0));
        mailbox.drop_first(peer, schedule_.rank);
        all.back().time = std::max(all.back().time, ready_);
        last = std::max(last, all.back().time + 1);
      }
    ready_ = std::max(ready_, last);
    return true;
  }

  const Schedule& schedule_;
  std::size_t round_ = 0;
  bool has_sent_ = false;
  std::uint32_t ready_ = 0;
};

}  // namespace

std::vector<Sent> timeline(std::span<const Schedule> schedules) {
  std::vector<Walker> walkers(schedules.begin(), schedules.end());
  std::vector<Sent> all;
  Mailbox mailbox;
  for (bool moved = true; moved;) {
    moved = false;
    for (Walker& walker : walkers) moved |= walker.advance(mailbox, all);
  }
  if (!std::ranges::all_of(walkers, &Walker::is_done)) throw Error("ranks wait for each other");
  return all;
}

}  // namespace hocket::tuning
