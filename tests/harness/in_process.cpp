#include "harness/in_process.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "harness/seed.hpp"

namespace hocket::harness {

using engine::Arena;
using engine::Content;
using engine::Rank;
using engine::Slot;
using engine::SlotKey;

class InProcessNode {
 public:
  explicit InProcessNode(std::size_t budget) : budget_(budget) {}

  Slot carve(const SlotKey& key, std::size_t bytes, Content content) {
    const std::scoped_lock lock(mutex_);
    Block& block = blocks_[{key.origin, key.members, key.part}];
    if (!block.asked && used_ + bytes <= budget_) {
      block.memory.reset(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
      std::memset(block.memory.get(), content == Content::anything ? 0xa5 : 0, bytes);
      used_ += bytes;
    }
    block.asked = true;
    return {block.memory.get(), bytes};
  }
  std::size_t used() const { return used_; }
  std::size_t budget() const { return budget_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  struct Block {
    bool asked = false;
    std::unique_ptr<std::byte, Free> memory;
  };
  std::mutex mutex_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, Block> blocks_;
  std::size_t budget_;
  std::size_t used_ = 0;
};

namespace {

class InProcessArena final : public Arena {
 public:
  InProcessArena(InProcessNode& node, int ranks, int cores) : node_(node), ranks_(ranks), cores_(cores) {}

  void introduce(Rank, Rank) override {}
  bool sealed() override { return true; }
  const std::string& why() const override { return why_; }
  void set_poke(bool (*)(void*) noexcept, void*) override {}
  bool has(Rank r) const override { return r >= 0 && r < ranks_; }
  int local_ranks() const override { return ranks_; }
  int cores_for_job() const override { return cores_; }
  std::vector<engine::CpuMask> cpus_of_ranks() const override { return {}; }
  std::string absentees() const override { return {}; }
  Slot carve(const SlotKey& key, std::size_t bytes, int, Content content) override {
    return node_.carve(key, bytes, content);
  }
  void release(const SlotKey&) override {}
  bool alive(Rank) const override { return true; }
  int pid_of(Rank r) const override { return r; }
  std::string host_of(Rank) const override { return "here"; }
  std::span<std::byte, 64> card_of(Rank) override { return card_; }
  std::size_t budget_bytes() const override { return node_.budget(); }
  std::size_t used_bytes() const override { return node_.used(); }

 private:
  InProcessNode& node_;
  int ranks_;
  int cores_;
  std::string why_;
  std::array<std::byte, 64> card_{};
};

/// What a rank has sent may still be its own, and wait for others to take it in: nobody leaves before all
/// can.
class Farewell {
 public:
  Farewell(engine::Engine& engine, std::atomic<int>& staying) : engine_(engine), staying_(staying) {}
  ~Farewell() {
    if (!engine_.network()) return;
    progress_until([this] { return engine_.network()->has_left(); });
    --staying_;
    progress_until([this] { return staying_ == 0; });
  }
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;

 private:
  /// Not for ever: another rank may have failed before it came here.
  template <class Condition>
  void progress_until(Condition holds) {
    constexpr std::uint64_t longest_ns = 10'000'000'000;
    for (const std::uint64_t begun = monotonic_ns(); !holds();) {
      if (monotonic_ns() - begun > longest_ns)
        return static_cast<void>(std::fputs("messages did not leave, or a rank did not end\n", stderr));
      engine_.network()->progress();
      std::this_thread::yield();
    }
  }

  engine::Engine& engine_;
  std::atomic<int>& staying_;
};

/// What all ranks of a run have in common.
struct Common {
  InProcessNode node;
  std::optional<transports::fake::Wire> network;
  std::atomic<int> staying;  ///< ranks whose messages have not left
};

void run_one(Common& common, const Ranks& setting, Rank rank, const Body& body) {
  Options options = setting.options;
  if (common.network) options.node_size = setting.ranks_per_node;
  engine::Engine engine(options, setting.host);
  engine.adopt(
      std::make_unique<InProcessArena>(common.node, setting.ranks, setting.one_core ? 1 : setting.ranks));
  if (common.network) {
    engine.connect(setting.port(common.network->port(rank)));
    engine.open_node_messages();
  }
  const Farewell farewell(engine, common.staying);
  std::vector<Rank> members(static_cast<std::size_t>(setting.ranks));
  std::iota(members.begin(), members.end(), 0);
  std::string why_not;
  const auto communicator = engine::Communicator::open(engine, 1, members, rank, why_not);
  if (!communicator) throw std::runtime_error("no communicator: " + why_not);
  body(rank, *communicator, engine);
}

}  // namespace

int some_ranks_per_node(int ranks) {
  return ranks > 2 ? 1 + static_cast<int>((test_seed() + static_cast<std::uint64_t>(ranks)) % 2) : 1;
}

void run_ranks(const Ranks& setting, const Body& body) {
  Common common{InProcessNode(setting.budget_bytes), std::nullopt, setting.ranks};
  if (setting.network) common.network.emplace(setting.ranks, *setting.network);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(setting.ranks));
  std::vector<std::thread> threads;
  for (Rank r = 0; r < setting.ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        run_one(common, setting, r, body);
      } catch (...) {
        errors[static_cast<std::size_t>(r)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
}

}  // namespace hocket::harness
