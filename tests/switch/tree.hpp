// Switches as threads of the test, alone or as a tree of two or three levels, and members that all do the
// same.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "member.hpp"
#include "switch/daemon.hpp"
#include "tree_shape.hpp"

namespace hocket::harness {

class Switch {
 public:
  explicit Switch(aggregation::Settings settings, const tcp::Place& place = {"127.0.0.1", "0"})
      : daemon_(with(std::move(settings), place)) {
    name_ = daemon_.name();
    thread_ = std::thread([this] { daemon_.run(); });
  }
  ~Switch() { stop(); }
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  const std::string& name() const { return name_; }
  void stop() {
    daemon_.stop();
    if (thread_.joinable()) thread_.join();
  }
  /// When it has stopped.
  const aggregation::Statistics& statistics() { return daemon_.statistics(); }

 private:
  static aggregation::Settings with(aggregation::Settings settings, const tcp::Place& place) {
    settings.listen = place;
    return settings;
  }

  aggregation::Daemon daemon_;
  std::string name_;
  std::thread thread_;
};

struct Tree {
  using Switches = std::vector<std::unique_ptr<Switch>>;

  explicit Tree(const TreeShape& shape, const aggregation::Limits& limits = {}) {
    aggregation::Settings settings;
    settings.limits = limits;
    root = std::make_unique<Switch>(settings);
    const auto add = [&settings](Switches& level, const Switch& parent) {
      settings.parent = tcp::place_in(parent.name());
      level.push_back(std::make_unique<Switch>(settings));
    };
    for (std::size_t i = 0; i < shape.inner; ++i) add(inner, *root);
    for (std::size_t i = 0; i < shape.leaves; ++i)
      add(leaves, inner.empty() ? *root : *inner[i % inner.size()]);
  }
  const std::string& place_of(std::size_t member) const {
    return leaves.empty() ? root->name() : leaves[member % leaves.size()]->name();
  }

  std::unique_ptr<Switch> root;  // what is above ends last
  Switches inner, leaves;
};

/// Each in a thread of its own; what one throws fails the test.
inline void in_threads(std::size_t count, const std::function<void(std::size_t)>& act) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      try {
        act(i);
      } catch (const std::exception& error) {
        const std::lock_guard guard(mutex);
        ADD_FAILURE() << "member " << i << ": " << error.what();
      }
    });
  for (std::thread& one : threads) one.join();
}

/// Members of job 1 in group 1 of all of them.
class Company {
 public:
  Company(const Tree& tree, std::size_t size, bool with_lock = true) {
    members_.resize(size);
    in_threads(size, [&](std::size_t i) {
      members_[i] = std::make_unique<Member>(tree.place_of(i), 1, static_cast<std::uint32_t>(i));
      EXPECT_EQ(members_[i]->join(1, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(i)),
                wire::Error::none);
      EXPECT_EQ(with_lock ? members_[i]->lock(1) : wire::Error::none, wire::Error::none);
    });
  }
  Member& operator[](std::size_t i) { return *members_[i]; }
  std::size_t size() const { return members_.size(); }
  void each(const std::function<void(Member&, std::size_t)>& act) {
    in_threads(size(), [&](std::size_t i) { act(*members_[i], i); });
  }
  /// What member i sends is data[i], what it gets is the i-th.
  std::vector<Bytes> run(std::uint32_t operation, const std::function<Call(std::size_t)>& call,
                         const std::vector<Bytes>& data) {
    std::vector<Bytes> results(size());
    each([&](Member& member, std::size_t i) { results[i] = member.run(1, operation, call(i), data[i]); });
    return results;
  }

 private:
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace hocket::harness
