// The cache against a model of it: what is found, registered together, kept, and given up.
#include "registration/cache.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace hocket::registration {
namespace {

constexpr std::uintptr_t page = 4096;

const void* at(std::uintptr_t number) {
  return reinterpret_cast<const void*>(number * page);  // NOLINT(performance-no-int-to-ptr)
}

/// Registers nothing, and says what it was asked for.
class Ledger final : public Backend {
 public:
  void* register_memory(void* address, std::size_t bytes) noexcept override {
    if (failures > 0) {
      --failures;
      return nullptr;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    registered[++last] = {begin / page, (begin + bytes) / page};
    return reinterpret_cast<void*>(last);  // NOLINT(performance-no-int-to-ptr)
  }
  void forget_memory(void* handle) noexcept override {
    EXPECT_EQ(registered.erase(reinterpret_cast<std::uintptr_t>(handle)), 1U);
  }
  Pages pages_of(const Lease& lease) const {
    return registered.at(reinterpret_cast<std::uintptr_t>(lease.handle()));
  }

  std::map<std::uintptr_t, Pages> registered;  // in numbers of pages
  std::uintptr_t last = 0;
  int failures = 0;
};

/// Tells what the test says.
class Told final : public Watch {
 public:
  bool begin(const Pages& pages) noexcept override {
    if (refuses) return false;
    watched.insert(pages.begin / page);
    return true;
  }
  void end(const Pages& pages) noexcept override { watched.erase(pages.begin / page); }
  std::span<const Pages> changes() noexcept override {
    told = std::exchange(next, {});
    return told;
  }
  void change(std::uintptr_t begin, std::uintptr_t end) { next.push_back({begin * page, end * page}); }

  std::set<std::uintptr_t> watched;
  std::vector<Pages> next, told;
  bool refuses = false;
};

class RegistrationCache : public testing::Test {
 protected:
  void make(const Limits& limits) {
    auto watch = std::make_unique<Told>();
    watch_ = watch.get();
    cache_.emplace(ledger_, std::move(watch), limits);
  }
  void SetUp() override { make({}); }
  void TearDown() override {
    cache_.reset();
    EXPECT_TRUE(ledger_.registered.empty());
  }
  Lease lease(std::uintptr_t first, std::uintptr_t pages) { return cache_->lease(at(first), pages * page); }

  Ledger ledger_;
  Told* watch_ = nullptr;
  std::optional<Cache> cache_;
};

TEST_F(RegistrationCache, FindsWhatLiesInsideOfWhatItKeeps) {
  lease(10, 10).end();
  EXPECT_TRUE(lease(10, 10));
  EXPECT_TRUE(lease(19, 1));
  EXPECT_TRUE(cache_->lease(static_cast<const char*>(at(12)) + 5, 7));
  EXPECT_EQ(ledger_.last, 1U);
  EXPECT_EQ(cache_->counters().hits, 3U);
  EXPECT_EQ(cache_->counters().misses, 1U);
  EXPECT_EQ(cache_->counters().pinned_bytes, 10 * page);
}

TEST_F(RegistrationCache, RegistersWholePages) {
  const Lease one = cache_->lease(static_cast<const char*>(at(3)) + page - 1, 2);
  EXPECT_EQ(ledger_.pages_of(one), (Pages{3, 5}));
}

TEST_F(RegistrationCache, LeavesNothingForNoBytes) {
  EXPECT_FALSE(cache_->lease(at(3), 0));
  EXPECT_EQ(ledger_.last, 0U);
}

TEST_F(RegistrationCache, RegistersWhatOverlapsTogether) {
  lease(10, 4).end();
  lease(16, 4).end();
  lease(30, 1).end();
  const Lease over = lease(12, 6);
  EXPECT_EQ(ledger_.pages_of(over), (Pages{10, 20}));
  EXPECT_EQ(ledger_.registered.size(), 2U);
  EXPECT_TRUE(lease(10, 10));
  EXPECT_EQ(ledger_.last, 4U);
}

TEST_F(RegistrationCache, KeepsNeighboursApart) {
  lease(10, 4).end();
  lease(14, 4).end();
  EXPECT_EQ(ledger_.registered.size(), 2U);
}

TEST_F(RegistrationCache, KeepsWhatIsInUseRegistered) {
  Lease old = lease(10, 4);
  const Lease over = lease(12, 4);
  EXPECT_EQ(ledger_.pages_of(old), (Pages{10, 14}));
  EXPECT_EQ(ledger_.pages_of(over), (Pages{10, 16}));
  old.end();
  EXPECT_EQ(ledger_.registered.size(), 1U);
}

TEST_F(RegistrationCache, GivesUpWhatWasNotUsedForTheLongestTime) {
  make({.entries = 2});
  lease(10, 1).end();
  lease(20, 1).end();
  lease(10, 1).end();
  lease(30, 1).end();
  EXPECT_EQ(cache_->counters().evictions, 1U);
  EXPECT_TRUE(lease(10, 1));
  EXPECT_EQ(cache_->counters().hits, 2U);
  EXPECT_EQ(watch_->watched, (std::set<std::uintptr_t>{10, 30}));
}

TEST_F(RegistrationCache, KeepsSoManyBytes) {
  make({.bytes = 8 * page});
  lease(10, 4).end();
  lease(20, 4).end();
  lease(30, 3).end();
  EXPECT_EQ(cache_->counters().pinned_bytes, 7 * page);
  EXPECT_TRUE(lease(40, 9));
  EXPECT_EQ(cache_->counters().pinned_bytes, 7 * page) << "what is longer than all is registered for once";
  const Lease one = lease(50, 5), other = lease(60, 5);
  EXPECT_TRUE(other);
  EXPECT_EQ(cache_->counters().pinned_bytes, 10 * page) << "what is in use is registered all the same";
}

TEST_F(RegistrationCache, DoesNotRegisterTogetherWhatIsTooLong) {
  make({.bytes = 8 * page});
  lease(10, 6).end();
  const Lease over = lease(14, 6);
  EXPECT_EQ(ledger_.pages_of(over), (Pages{14, 20}));
  EXPECT_EQ(ledger_.registered.size(), 1U);
}

TEST_F(RegistrationCache, MakesRoomWhereRegisteringFails) {
  lease(10, 1).end();
  lease(20, 1).end();
  ledger_.failures = 1;
  EXPECT_TRUE(lease(30, 1));
  EXPECT_EQ(ledger_.registered.size(), 1U);
  ledger_.failures = 2;
  EXPECT_FALSE(lease(40, 1));
  EXPECT_EQ(lease(40, 1).handle() != nullptr, true);
  EXPECT_EQ(cache_->counters().failures, 1U);
}

TEST_F(RegistrationCache, RegistersTheBufferAloneWhereTogetherFails) {
  const Lease used = lease(10, 4);
  ledger_.failures = 1;
  const Lease over = lease(12, 4);
  EXPECT_EQ(ledger_.pages_of(over), (Pages{12, 16}));
}

TEST_F(RegistrationCache, ForgetsWhatHasChanged) {
  lease(10, 4).end();
  Lease used = lease(20, 4);
  lease(30, 4).end();
  watch_->change(13, 21);
  EXPECT_TRUE(lease(30, 4));
  EXPECT_EQ(cache_->counters().invalidations, 2U);
  EXPECT_EQ(ledger_.registered.size(), 2U);
  const Lease again = lease(20, 4);
  EXPECT_NE(again.handle(), used.handle());
  used.end();
  EXPECT_EQ(ledger_.registered.size(), 2U);
}

TEST_F(RegistrationCache, ForgetsEverythingWhereNobodyKnows) {
  lease(10, 4).end();
  watch_->next.push_back(all_memory);
  EXPECT_TRUE(lease(30, 4));
  EXPECT_EQ(ledger_.registered.size(), 1U);
}

TEST_F(RegistrationCache, KeepsNothingThatIsNotWatched) {
  watch_->refuses = true;
  EXPECT_TRUE(lease(10, 4));
  EXPECT_TRUE(ledger_.registered.empty());
  cache_.emplace(ledger_, nullptr, Limits{});
  EXPECT_FALSE(cache_->keeps());
  EXPECT_TRUE(lease(10, 4));
  EXPECT_TRUE(ledger_.registered.empty());
  EXPECT_EQ(cache_->counters().hits, 0U);
}

TEST_F(RegistrationCache, IsForSeveralThreads) {
  make({.entries = 4});
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      std::minstd_rand random(seed + 1);
      for (int i = 0; i < 2000; ++i) EXPECT_TRUE(lease(10 + random() % 30, 1 + random() % 6));
    });
  threads.clear();
  const Counters found = cache_->counters();
  EXPECT_EQ(found.hits + found.misses, 8000U);
  EXPECT_LE(found.entries, 4U);
}

/// One number for all pages that are registered together; what a page number is kept under.
struct Model {
  std::map<std::uintptr_t, std::uintptr_t> kept;  // begin -> end

  bool covers(std::uintptr_t begin, std::uintptr_t end) const {
    const auto next = kept.upper_bound(begin);
    return next != kept.begin() && std::prev(next)->second >= end;
  }
  Pages drop(std::uintptr_t begin, std::uintptr_t end) {
    Pages whole{begin, end};
    for (auto one = kept.begin(); one != kept.end();) {
      const Pages pages{one->first, one->second};
      if (pages.overlaps({begin, end})) whole = both(whole, pages);
      one = pages.overlaps({begin, end}) ? kept.erase(one) : std::next(one);
    }
    return whole;
  }
};

TEST_F(RegistrationCache, DoesWhatASimpleOneDoes) {
  const char* const given = std::getenv("TEST_SEED");
  const unsigned seed =
      given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  Model model;
  std::deque<Lease> leases;
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    const std::uintptr_t begin = 10 + random() % 200, end = begin + 1 + random() % 12;
    if (random() % 8 == 0) {
      watch_->change(begin, end);
      model.drop(begin, end);
      continue;
    }
    const bool is_hit = model.covers(begin, end);
    const auto hits = cache_->counters().hits;
    leases.push_back(lease(begin, end - begin));
    EXPECT_EQ(cache_->counters().hits, hits + (is_hit ? 1 : 0));
    EXPECT_TRUE(ledger_.pages_of(leases.back()).covers({begin, end}));
    if (!is_hit) {
      const Pages whole = model.drop(begin, end);
      model.kept[whole.begin] = whole.end;
      EXPECT_EQ(ledger_.pages_of(leases.back()), whole);
    }
    if (leases.size() > random() % 20)
      leases.erase(leases.begin() + static_cast<long>(random() % leases.size()));
  }
  leases.clear();
  lease(1000, 1).end();  // takes the last changes
  EXPECT_EQ(ledger_.registered.size(), model.kept.size() + 1);
}

}  // namespace
}  // namespace hocket::registration
