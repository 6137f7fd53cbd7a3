// Operations of one kind that are used again: what they have grown to stays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace hocket::engine {

/// `Operation`: made from a ground and its place among all that the pool has made, which place() returns.
template <class Operation>
class OperationPool {
 public:
  /// The oldest one that is not in use: a program that repeats itself finds the same ones in each turn, which
  /// have grown to what they need then. Throws std::bad_alloc.
  template <class Ground>
  Operation& take(Ground& ground) {
    if (unused_.empty()) return make(ground);
    std::pop_heap(unused_.begin(), unused_.end(), is_younger);
    Operation& operation = *unused_.back();
    unused_.pop_back();
    return operation;
  }

  void give_back(Operation& operation) noexcept {
    unused_.push_back(&operation);  // there is room: see make()
    std::push_heap(unused_.begin(), unused_.end(), is_younger);
  }

 private:
  static bool is_younger(const Operation* one, const Operation* other) {
    return one->place() > other->place();
  }

  template <class Ground>
  Operation& make(Ground& ground) {
    all_.push_back(std::make_unique<Operation>(ground, all_.size()));
    unused_.reserve(all_.size());
    return *all_.back();
  }

  std::vector<std::unique_ptr<Operation>> all_;
  std::vector<Operation*> unused_;  ///< a heap, the oldest first
};

}  // namespace hocket::engine
