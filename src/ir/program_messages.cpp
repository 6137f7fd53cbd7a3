// Sends and recvs of an ordered pair of ranks match in program order, whatever the timing: so they are paired
// before running.
#include <algorithm>
#include <tuple>

#include "ir/program.hpp"
#include "ir/text.hpp"

namespace hocket::ir {

namespace {

struct Transfer {
  Rank from, to;
  Place place;
  bool operator<(const Transfer& o) const {
    return std::tie(from, to, place.op) < std::tie(o.from, o.to, o.place.op);
  }
  bool same_channel(const Transfer& o) const { return from == o.from && to == o.to; }
};

std::vector<Transfer> transfers(const Program& program, OpCode code) {
  std::vector<Transfer> all;
  for (Rank r = 0; r < program.ranks(); ++r) {
    const auto& ops = program.of(r).ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops[i].code != code) continue;
      const bool sends = code == OpCode::send;
      all.push_back({sends ? r : ops[i].peer, sends ? ops[i].peer : r, {r, i}});
    }
  }
  std::ranges::sort(all, std::less<>());
  return all;
}

struct Chunk {
  Region region;
  std::uint32_t n;
};

std::vector<Chunk> chunks_of(const Schedule& s, const Op& op) {
  std::vector<Chunk> all;
  for (const Region& r : s.regions_of(op))
    for (std::uint32_t i = 0; i < r.count; ++i) all.push_back({r, r.first + i});
  return all;
}

/// What a rank sends to another is a stream to transports: two messages of one round would mix.
void check_streams(const Program& program, const std::vector<Transfer>& sorted) {
  const auto mix = [&](const Transfer& one, const Transfer& next) {
    return one.same_channel(next) && program.round_of(one.place) == program.round_of(next.place);
  };
  const auto first = std::ranges::adjacent_find(sorted, mix);
  if (first != sorted.end()) program.fail((first + 1)->place, "the second message of this round on its way");
}

}  // namespace

void Program::match_messages() {
  const auto sends = transfers(*this, OpCode::send);
  const auto recvs = transfers(*this, OpCode::recv);
  check_streams(*this, sends);
  check_streams(*this, recvs);
  const std::size_t common = std::min(sends.size(), recvs.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (!sends[i].same_channel(recvs[i])) {
      const bool send_is_alone = std::tie(sends[i].from, sends[i].to) < std::tie(recvs[i].from, recvs[i].to);
      if (send_is_alone) fail(sends[i].place, "nobody receives this message");
      fail(recvs[i].place, "nobody sends this message");
    }
    check_message(sends[i].place, recvs[i].place);
    for (Place p : {sends[i].place, recvs[i].place}) number_of_op_[first_op_[p.rank] + p.op] = messages_;
    ++messages_;
  }
  if (sends.size() > common) fail(sends[common].place, "nobody receives this message");
  if (recvs.size() > common) fail(recvs[common].place, "nobody sends this message");
}

void Program::check_message(Place sender, Place receiver) const {
  const auto sent = chunks_of(of(sender.rank), op(sender));
  const auto received = chunks_of(of(receiver.rank), op(receiver));
  if (sent.size() != received.size())
    fail(sender, "sends " + std::to_string(sent.size()) + " chunks, but " + name_of(receiver) + " takes " +
                     std::to_string(received.size()));
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (size_identity(sender.rank, sent[i].region, sent[i].n) !=
        size_identity(receiver.rank, received[i].region, received[i].n))
      fail(sender, "sends chunk " + std::to_string(sent[i].n) + " where " + name_of(receiver) +
                       " takes chunk " + std::to_string(received[i].n) + ", which has another size");
}

}  // namespace hocket::ir
