// The arena when things go wrong: ranks that are absent, late, different, killed, forked, or somebody else's;
// limits of the system.
#include "engine/arena.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <chrono>
#include <fstream>

#include "harness/arena_ranks.hpp"
#include "harness/rights.hpp"

namespace hocket::engine {
namespace {

using test::come_up;
using test::Event;
using test::ForkedRanks;
using test::in_sealed_arena;
using test::meet;
using test::new_key;
using test::settings;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string outcome(Arena& arena) {
  return arena.sealed() ? "sealed: " + arena.absentees() : "out: " + arena.why();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  return has(text, ") T");
}

TEST(ArenaFault, an_absent_rank_costs_no_more_than_the_bound) {
  const std::string key = new_key();
  const auto texts =
      ForkedRanks()
          .start_all(2,
                     [&](int rank) -> std::string {
                       const double begin = now();
                       auto arena = come_up(key, rank, 3, settings(2));
                       const std::string text = outcome(*arena);
                       return now() - begin < 10 && !arena->has(21) && arena->has(1) && arena->has(11)
                                  ? text
                                  : "wrong: " + text;
                     })
          .wait();
  for (const std::string& text : texts) EXPECT_TRUE(text.starts_with("sealed: local rank 2 (host ")) << text;
}

TEST(ArenaFault, a_late_rank_is_told_so) {
  const std::string key = new_key();
  const Event sealed, late_one_has_tried;
  ForkedRanks ranks;
  ranks.start_all(2, [&](int rank) -> std::string {
    auto arena = come_up(key, rank, 3, settings(2));
    const std::string text = outcome(*arena);
    sealed.happen();
    late_one_has_tried.wait();
    return text;
  });
  ranks.start(2, [&](int) -> std::string {
    for (int rank = 0; rank < 2; ++rank) sealed.wait();
    const std::string text = outcome(*come_up(key, 2, 3, settings(2)));
    for (int rank = 0; rank < 2; ++rank) late_one_has_tried.happen();
    return text;
  });
  const auto texts = ranks.wait();
  EXPECT_TRUE(texts[0].starts_with("sealed: local rank 2")) << texts[0];
  EXPECT_TRUE(texts[1].starts_with("sealed: local rank 2")) << texts[1];
  EXPECT_TRUE(has(texts[2], "too late")) << texts[2];
}

TEST(ArenaFault, without_local_rank_0_everybody_leaves_after_the_bound) {
  const std::string key = new_key();
  ForkedRanks ranks;
  for (int rank : {1, 2})
    ranks.start(rank, [&](int local) -> std::string {
      auto arena = come_up(key, local, 3, settings(0.3));
      return outcome(*arena);
    });
  for (const std::string& text : ranks.wait())
    EXPECT_TRUE(has(text, "out: local rank 0 offers no arena")) << text;
}

TEST(ArenaFault, other_options_end_it_for_all_and_are_named) {
  const std::string key = new_key();
  const auto texts =
      ForkedRanks()
          .start_all(3,
                     [&](int rank) -> std::string {
                       auto arena = come_up(
                           key, rank, 3,
                           settings(10, rank == 2 ? "hocket 0; HOCKET_FORCE=bcast:flat" : "hocket 0"));
                       return outcome(*arena);
                     })
          .wait();
  for (const std::string& text : texts) {
    EXPECT_TRUE(has(text, "out: local rank 2 (host ")) << text;
    EXPECT_TRUE(has(text, "HOCKET_FORCE=bcast:flat against the preset")) << text;
  }
}

TEST(ArenaFault, another_number_of_local_ranks_ends_it_for_all) {
  const std::string key = new_key();
  const auto texts = ForkedRanks()
                         .start_all(2,
                                    [&](int rank) -> std::string {
                                      auto arena = come_up(key, rank, rank == 0 ? 2 : 4);
                                      return outcome(*arena);
                                    })
                         .wait();
  for (const std::string& text : texts) EXPECT_TRUE(has(text, "out: local rank 1 (host ")) << text;
}

TEST(ArenaFault, a_killed_rank_is_noticed) {
  const auto texts = in_sealed_arena(3, [&](auto& arena, int rank) -> std::string {
    meet(*arena, 1, 3);
    if (rank == 1) raise(SIGKILL);
    for (int tries = 0; arena->alive(11); ++tries) {
      if (tries > 5000) return "never noticed";
      usleep(1000);
    }
    const bool others = arena->alive(1) && arena->alive(21) && !arena->alive(5);
    meet(*arena, 2, 2);
    return others ? "noticed" : "others dead?";
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"noticed", "signal 9", "noticed"}));
}

TEST(ArenaFault, a_stopped_rank_is_alive) {
  const std::string key = new_key();
  ForkedRanks ranks;
  ranks.start_all(2, [&](int rank) -> std::string {
    auto arena = come_up(key, rank, 2);
    if (!arena->sealed()) return arena->why();
    meet(*arena, 1, 2);
    if (rank == 1) {
      raise(SIGSTOP);
      return "continued";
    }
    while (!is_stopped(arena->pid_of(11))) usleep(1000);
    const bool alive = arena->alive(11);
    kill(arena->pid_of(11), SIGCONT);
    return alive ? "alive" : "dead";
  });
  EXPECT_EQ(ranks.wait(), (std::vector<std::string>{"alive", "continued"}));
}

/// Programs that turn themselves into services close what they do not know. The lock is gone then, and the
/// number may name another file.
TEST(ArenaFault, a_program_that_closes_all_descriptors_stays_alive_and_can_carve) {
  const auto texts = in_sealed_arena(2, [&](auto& arena, int rank) -> std::string {
    meet(*arena, 1, 2);
    const int file = memfd_create("another", 0);
    struct stat before{}, after{};
    fstat(file, &before);
    for (int number = 400; rank == 1 && number < 1100; ++number) dup2(file, number);
    const Slot slot = arena->carve({1, 2, 3}, 100'000, 2);
    if (!slot.memory) return "no memory";
    slot.memory[rank] = std::byte(rank + 1);
    meet(*arena, 2, 2);
    const bool alive = arena->alive(1) && arena->alive(11);
    meet(*arena, 3, 2);
    arena->release({1, 2, 3});
    arena.reset();
    const bool untouched =
        fstat(file, &after) == 0 && before.st_size == after.st_size && before.st_blocks == after.st_blocks;
    return alive && untouched ? "good" : "bad";
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"good", "good"}));
}

TEST(ArenaFault, a_rank_that_dies_with_the_directory_locked_does_not_block_the_others) {
  const auto texts = in_sealed_arena(3, [&](auto& arena, int rank) -> std::string {
    meet(*arena, 1, 3);
    if (rank == 1) {
      alarm(0);
      signal(SIGALRM, [](int) { raise(SIGKILL); });
      const itimerval soon{{0, 0}, {0, 3000}};
      setitimer(ITIMER_REAL, &soon, nullptr);
      for (std::uint64_t i = 0;; ++i) {
        arena->carve({i, 8, 8}, 300'000, 1);
        arena->release({i, 8, 8});
      }
    }
    while (arena->alive(11)) usleep(1000);
    for (std::uint64_t i = 0; i < 10; ++i) {
      if (!arena->carve({i, 9, 9}, 50'000, 2).memory) return "no memory";
      arena->release({i, 9, 9});
    }
    return "good";
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"good", "signal 9", "good"}));
}

TEST(ArenaFault, a_forked_child_touches_nothing_and_its_end_is_not_the_ranks) {
  const auto texts = in_sealed_arena(2, [&](auto& arena, int rank) -> std::string {
    const Slot slot = arena->carve({1, 1, 1}, 4096, 2);
    if (rank == 1) {
      const pid_t child = fork();
      if (child == 0) {
        const bool refused = !arena->sealed() && !arena->carve({2, 2, 2}, 64, 1).memory;
        arena->release({1, 1, 1});
        arena.reset();
        _exit(refused ? 0 : 1);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) return "the child used the arena";
      slot.memory[0] = std::byte{1};
    }
    meet(*arena, 1, 2);
    if (slot.memory[0] != std::byte{1} || !arena->alive(11)) return "lost";
    meet(*arena, 2, 2);
    return "good";
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"good", "good"}));
}

TEST(ArenaFault, a_second_local_rank_0_is_refused) {
  const std::string key = new_key();
  auto arena = Arena::announce(test::job(key, 0, 1), settings());
  EXPECT_THROW(Arena::announce(test::job(key, 0, 1), settings()), std::exception);
}

TEST(ArenaFault, small_file_limits_are_errors_or_small_budgets_not_signals) {
  for (const rlim_t limit : {rlim_t{1} << 16, rlim_t{3} << 20}) {
    ForkedRanks ranks;
    const std::string key = new_key();
    ranks.start(0, [&](int) -> std::string {
      const rlimit tiny{limit, limit};
      setrlimit(RLIMIT_FSIZE, &tiny);
      auto with = settings();
      with.budget_bytes = std::size_t{1} << 30;
      auto arena = come_up(key, 0, 1, with);
      if (!arena->sealed() || arena->budget_bytes() >= limit) return "bad";
      return arena->carve({1, 1, 1}, arena->budget_bytes(), 1).memory ? "small" : "no memory";
    });
    const std::string text = ranks.wait()[0];
    EXPECT_TRUE(limit < (1 << 20) ? has(text, "error: the limit of file sizes") : text == "small") << text;
  }
}

TEST(ArenaFault, without_room_for_the_mapping_it_is_an_error) {
  ForkedRanks ranks;
  const std::string key = new_key();
  ranks.start(0, [&](int) -> std::string {
    const rlimit small{std::size_t{1} << 30, std::size_t{1} << 30};
    setrlimit(RLIMIT_AS, &small);
    auto with = settings();
    with.budget_bytes = std::size_t{1} << 34;
    auto arena = come_up(key, 0, 1, with);
    return "came up";
  });
  const std::string text = ranks.wait()[0];
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_TRUE(has(text, "error: cannot map")) << text;
#endif
}

TEST(ArenaFault, where_proc_is_closed_local_rank_0_hands_the_descriptor_over) {
  const bool is_root = geteuid() == 0;
  if (is_root && !harness::works_in_a_child(harness::become_nobody))
    GTEST_SKIP() << "root, who sees every /proc, cannot become somebody else here";
  const std::string key = new_key();
  const auto texts =
      ForkedRanks()
          .start_all(2,
                     [&](int rank) -> std::string {
                       if (is_root && !harness::become_nobody()) return "cannot change user";
                       prctl(PR_SET_DUMPABLE,
                             0);  // other processes of the user cannot look into /proc/PID any more
                       auto arena = come_up(key, rank, 2, settings(5));
                       if (!arena->sealed()) return arena->why();
                       meet(*arena, 1, 2);
                       const bool alive = arena->alive(1) && arena->alive(11);
                       meet(*arena, 2, 2);
                       return alive ? "good" : "dead?";
                     })
          .wait();
  EXPECT_EQ(texts, (std::vector<std::string>{"good", "good"}));
}

TEST(ArenaFault, another_user_neither_gets_nor_gives_an_arena) {
  if (!harness::works_in_a_child(harness::become_nobody)) GTEST_SKIP() << "needs root and a second user";
  for (const int stranger : {0, 1}) {
    const std::string key = new_key();
    const Event other_has_tried;
    const auto texts = ForkedRanks()
                           .start_all(2,
                                      [&](int rank) -> std::string {
                                        if (rank == stranger && !harness::become_nobody())
                                          return "cannot change user";
                                        auto arena = come_up(key, rank, 2, settings(0.5));
                                        const std::string text = outcome(*arena);
                                        if (rank == 0)
                                          other_has_tried.wait();  // until then, its address stays
                                        else
                                          other_has_tried.happen();
                                        return text;
                                      })
                           .wait();
    EXPECT_TRUE(has(texts[0], "sealed: local rank 1")) << texts[0];
    EXPECT_TRUE(has(texts[1], "another user")) << texts[1];
  }
}

}  // namespace
}  // namespace hocket::engine
