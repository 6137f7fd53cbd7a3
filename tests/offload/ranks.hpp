// Ranks as threads of the test, and their way to each other without a network.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "offload/tree.hpp"

namespace hocket::harness {

/// Where some ranks meet.
class Meeting {
 public:
  explicit Meeting(int size) : of_all(static_cast<std::size_t>(size)), everybody_(size) {}
  int size() const { return static_cast<int>(of_all.size()); }
  void wait() { everybody_.arrive_and_wait(); }

  const void* shown = nullptr;      ///< by the root of a broadcast
  std::vector<const void*> of_all;  ///< by each

 private:
  std::barrier<> everybody_;
};

class Room final : public offload::OutOfBand {
 public:
  Room(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  offload::Member self() const { return {rank_, meeting_.size()}; }

  Status bcast(void* data, int bytes, int root) noexcept override {
    if (rank_ == root) meeting_.shown = data;
    meeting_.wait();
    if (rank_ != root) std::memcpy(data, meeting_.shown, static_cast<std::size_t>(bytes));
    return barrier();
  }
  Status barrier() noexcept override {
    meeting_.wait();
    return Status::ok;
  }
  Status gather(int root, const void* sent, void* received, int bytes) noexcept override {
    const auto length = static_cast<std::size_t>(bytes);
    meeting_.of_all[static_cast<std::size_t>(rank_)] = sent;
    meeting_.wait();
    std::byte* to = static_cast<std::byte*>(received);
    if (rank_ == root)
      for (const void* const one : meeting_.of_all) std::memcpy(std::exchange(to, to + length), one, length);
    return barrier();
  }

 private:
  Meeting& meeting_;
  int rank_;
};

/// act(room) by each of so many.
inline void in_ranks(int size, const std::function<void(Room&)>& act) {
  Meeting meeting(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Room room(meeting, rank);
      act(room);
    });
  for (std::thread& one : threads) one.join();
}

/// Until it is over, but not for ever.
inline Status finish(offload::Group& group, offload::Request& request) {
  for (const Deadline end(20); request.status() == Status::pending && !end.passed();) group.test(request);
  return request.status();
}

inline Status run(offload::Group& group, const offload::Aggregation& what) {
  auto request = std::make_unique<offload::Request>();
  group.post(what, *request);
  const Status status = finish(group, *request);
  if (status == Status::pending) request.release();  // NOLINT(bugprone-unused-return-value): the group has it
  return status;
}

}  // namespace hocket::harness
