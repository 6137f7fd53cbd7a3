// Rounds of messages between the ranks of a job, each on its own network, checked byte by byte: the same over
// the network in one process (transport/messages_test.cpp) and over others (worker/).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "transports/fake/faults.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::harness {

using ir::Rank;
using transports::Piece;
using transports::Transfer;
using transports::TwoSided;
using transports::mpi::CommunicatorId;
using transports::mpi::Messages;
using transports::mpi::Network;

inline constexpr CommunicatorId world{7, 11};

inline std::vector<Rank> all(Rank ranks) {
  std::vector<Rank> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

/// Advances everything until it has ended. Those of one list begin in its order: they are a stream.
inline Status complete(TwoSided& via, std::vector<Transfer>& sends, std::vector<Transfer>& recvs) {
  for (;;) {
    bool pending = false;
    via.take_in();
    for (const bool is_send : {true, false})
      for (Transfer& t : is_send ? sends : recvs) {
        if (t.started && t.done == t.total) continue;
        const Status s = is_send ? via.advance_send(t) : via.advance_recv(t);
        if (s != Status::ok && s != Status::pending) return s;
        pending = pending || s == Status::pending;
        if (t.state == 0) break;
      }
    if (!pending) return Status::ok;
    std::this_thread::yield();
  }
}

/// A message of its own bytes, in pieces that do not follow each other in memory if `apart`. No two places of
/// a message are alike for long, so that what lands in another one shows.
struct Buffer {
  Buffer(std::size_t bytes, int fill, bool apart) : memory(bytes + 64) {
    const std::size_t half = bytes / 2;
    pieces = {{memory.data(), half}, {memory.data() + half + (apart ? 64 : 0), bytes - half}};
    std::size_t place = 0;
    for (const Piece& piece : pieces)
      for (std::size_t i = 0; i < piece.bytes; ++i) piece.data[i] = byte(fill, place++);
  }
  bool holds(int fill) const {
    std::size_t place = 0;
    for (const Piece& piece : pieces)
      for (std::size_t i = 0; i < piece.bytes; ++i)
        if (piece.data[i] != byte(fill, place++)) return false;
    return true;
  }
  static std::byte byte(int fill, std::size_t place) {
    return static_cast<std::byte>(static_cast<std::size_t>(fill) ^ place ^ (place >> 8U) * 151 ^
                                  place >> 16U);
  }
  Transfer with(Rank peer) const {
    return {.peer = peer, .pieces = pieces, .total = pieces[0].bytes + pieces[1].bytes};
  }

  std::vector<std::byte> memory;
  std::vector<Piece> pieces;
};

/// Each rank sends streams to the next one: messages of all sizes, in one piece and in several.
inline void carry_all_sizes_in_order(Rank me, Rank ranks, Network& network, std::uint64_t seed,
                                     double pending, std::size_t most_bytes = 40'000) {
  const auto members = all(ranks);
  Messages below(network, world, members);
  transports::fake::FaultyTwoSided via(below,
                                       {.seed = seed + static_cast<std::uint64_t>(me), .pending = pending});
  std::mt19937_64 random(seed);
  for (std::uint32_t i = 1; i <= 60; ++i) {
    below.begin(i, 5, {});
    const Rank to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
    std::vector<Buffer> out, in;
    std::vector<Transfer> sends, recvs;
    for (int k = 0; k < 3; ++k) {  // several of one pair: a stream
      const std::size_t bytes = random() % 3 == 0 ? random() % 64 : random() % most_bytes;
      out.emplace_back(bytes, me * 31 + k, random() % 2 == 0);
      in.emplace_back(bytes, 255, random() % 2 == 0);
    }
    for (int k = 0; k < 3; ++k) {
      sends.push_back(out[static_cast<std::size_t>(k)].with(to));
      recvs.push_back(in[static_cast<std::size_t>(k)].with(from));
    }
    ASSERT_EQ(complete(via, sends, recvs), Status::ok);
    for (int k = 0; k < 3; ++k)
      ASSERT_TRUE(in[static_cast<std::size_t>(k)].holds(from * 31 + k)) << i << " " << k;
  }
}

/// An operation of one communicator: a message to the next rank of it, and one from the last.
struct RingStep {
  RingStep(Network& network, const CommunicatorId& communicator, std::span<const Rank> members, Rank self,
           std::size_t bytes, int number)
      : via(std::make_unique<Messages>(network, communicator, members)),
        from((self + static_cast<Rank>(members.size()) - 1) % static_cast<Rank>(members.size())),
        tag(number) {
    buffers.emplace_back(bytes, self * 16 + tag, false);
    buffers.emplace_back(bytes, 255, false);
    send = buffers[0].with((self + 1) % static_cast<Rank>(members.size()));
    recv = buffers[1].with(from);
  }
  bool has_ended() const { return send.started && recv.started; }
  void advance() {
    via->take_in();
    if (!send.started) via->advance_send(send);
    if (!recv.started) via->advance_recv(recv);
  }
  bool is_right() const { return buffers[1].holds(from * 16 + tag); }

  std::unique_ptr<Messages> via;
  std::vector<Buffer> buffers;
  Transfer send, recv;
  Rank from;
  int tag;
};

/// Several operations of two communicators at the same time, advanced in another order on each rank.
inline void keep_operations_apart(Rank me, Rank ranks, Network& network, std::uint64_t seed) {
  constexpr std::uint32_t operations = 6;
  const auto members = all(ranks);
  const std::vector<Rank> backwards(members.rbegin(), members.rend());
  std::mt19937_64 random(seed), order(seed + static_cast<std::uint64_t>(me));
  for (std::uint32_t round = 0; round < 10; ++round) {
    std::vector<RingStep> running;
    for (std::uint32_t k = 0; k < operations; ++k) {
      const std::size_t bytes = random() % 2 == 0 ? random() % 100 : random() % 30'000;
      if (k % 2 == 0)
        running.emplace_back(network, world, members, me, bytes, static_cast<int>(k));
      else
        running.emplace_back(network, CommunicatorId{8, 12}, backwards, ranks - 1 - me, bytes,
                             static_cast<int>(k));
      running.back().via->begin(round * operations + k, 5, {});
    }
    std::size_t left = running.size();
    while (left > 0) {
      std::shuffle(running.begin(), running.end(), order);
      for (RingStep& step : running) {
        if (step.has_ended()) continue;
        step.advance();
        if (step.has_ended()) --left;
      }
      std::this_thread::yield();
    }
    for (const RingStep& step : running) ASSERT_TRUE(step.is_right());
  }
}

}  // namespace hocket::harness
