// Ranks that meet in an arena, each in a process of its own.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "harness/forked_ranks.hpp"

namespace hocket::test {

inline engine::JobIdentity job(const std::string& key, int local_rank, int local_size) {
  return {key, local_rank, local_size, "test"};
}

inline engine::ArenaSettings settings(double seconds = 10, std::string fingerprint = "hocket 0") {
  engine::ArenaSettings settings;
  settings.budget_bytes = 1 << 20;
  settings.setup_seconds = seconds;
  settings.fingerprint = std::move(fingerprint);
  return settings;
}

/// The way of a rank up to the sealed arena; world ranks are ten times the local ones, plus one.
inline std::unique_ptr<engine::Arena> come_up(const std::string& key, int local_rank, int local_size,
                                              const engine::ArenaSettings& with = settings()) {
  auto arena = engine::Arena::announce(job(key, local_rank, local_size), with);
  arena->introduce(10 * local_rank + 1, 10 * local_size);
  return arena;
}

/// A barrier for tests: counts in shared memory of the arena, which it takes while there is some.
class Meeting {
 public:
  Meeting(engine::Arena& arena, std::uint64_t name, int users)
      : count_(reinterpret_cast<std::uint32_t*>(arena.carve({0xba44, name, 9}, 64, users).memory)),
        users_(static_cast<std::uint32_t>(users)) {}

  void meet() {
    target_ += users_;
    __atomic_add_fetch(count_, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(count_, __ATOMIC_ACQUIRE) < target_) usleep(200);
  }

 private:
  std::uint32_t* count_;
  std::uint32_t users_;
  std::uint32_t target_ = 0;
};

inline void meet(engine::Arena& arena, std::uint64_t name, int users) {
  Meeting(arena, name, users).meet();
}

using InArena = std::function<std::string(std::unique_ptr<engine::Arena>& arena, int rank)>;

/// What the ranks have to say once the arena is sealed, or why it is not.
inline std::vector<std::string> in_sealed_arena(int ranks, const InArena& body) {
  const std::string key = new_key();
  return ForkedRanks()
      .start_all(ranks,
                 [&](int rank) {
                   auto arena = come_up(key, rank, ranks);
                   return arena->sealed() ? body(arena, rank) : "out: " + arena->why();
                 })
      .wait();
}

inline std::set<std::string> distinct(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace hocket::test
