// MPI handle -> what Hocket keeps about it. Reading takes no lock and costs about a nanosecond; changes take
// one.
//
// MPI reuses handles at once, and other threads may hold a node they found earlier; so nodes live as long as
// the table, are found by comparing the handle they now stand for, and are taken again by the next handle of
// their bucket. Values go when their handle is erased: a value that others may be reading then is copied
// under the lock.
//
// Tables that MPI calls use are never destroyed: such calls may come while the program's statics are.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

template <class Value>
class HandleTable {
 public:
  static constexpr HandleBits nobody = ~HandleBits{0};

  struct Node {
    std::atomic<HandleBits> handle{nobody};
    std::atomic<Value*> value{nullptr};
    Node* next = nullptr;
  };

  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable() {
    for (auto& bucket : buckets_) free_chain(bucket.load(std::memory_order_relaxed));
  }

  /// The node that stands for the handle, or null. Its value is null only while the handle is being removed.
  Node* find(HandleBits handle) const {
    for (Node* node = buckets_[index(handle)].load(std::memory_order_acquire); node; node = node->next)
      if (node->handle.load(std::memory_order_acquire) == handle) return node;
    return nullptr;
  }

  Value* value_of(HandleBits handle) const {
    const Node* node = find(handle);
    return node ? node->value.load(std::memory_order_acquire) : nullptr;
  }

  /// The first of which this is true, or null. The caller knows that it stays.
  template <class Predicate>
  Value* find_if(Predicate is_it) {
    const std::lock_guard lock(mutex_);
    for (auto& bucket : buckets_)
      for (Node* node = bucket.load(std::memory_order_relaxed); node; node = node->next)
        if (Value* value = node->value.load(std::memory_order_relaxed); value && is_it(*value)) return value;
    return nullptr;
  }

  /// For values that another thread may erase meanwhile.
  std::optional<Value> copy_of(HandleBits handle) {
    const std::lock_guard lock(mutex_);
    const Value* value = value_of(handle);
    return value ? std::optional<Value>(*value) : std::nullopt;
  }

  /// Takes the place of what was known about the handle.
  Value* insert(HandleBits handle, std::unique_ptr<Value> value) {
    const std::lock_guard lock(mutex_);
    Node* node = find(handle);
    if (!node) node = free_node(handle);
    return fill(*node, handle, std::move(value));
  }

  /// Leaves what is known about the handle. True: there was nothing.
  bool insert_if_absent(HandleBits handle, std::unique_ptr<Value> value) {
    const std::lock_guard lock(mutex_);
    if (find(handle)) return false;
    fill(*free_node(handle), handle, std::move(value));
    return true;
  }

  void erase(HandleBits handle) { take(handle); }

  /// Erases it; what was known about the handle goes on with the caller.
  std::unique_ptr<Value> take(HandleBits handle) {
    const std::lock_guard lock(mutex_);
    Node* node = find(handle);
    return node ? empty(*node) : nullptr;
  }

  /// Erases all of which this is true.
  template <class Predicate>
  std::vector<std::unique_ptr<Value>> take_all(Predicate goes) {
    std::vector<std::unique_ptr<Value>> taken;
    const std::lock_guard lock(mutex_);
    for (auto& bucket : buckets_)
      for (Node* node = bucket.load(std::memory_order_relaxed); node; node = node->next)
        if (const Value* value = node->value.load(std::memory_order_relaxed); value && goes(*value))
          taken.push_back(empty(*node));
    return taken;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto& bucket : buckets_)
      for (Node* node = bucket.load(std::memory_order_relaxed); node; node = node->next) empty(*node);
  }

 private:
  static constexpr std::size_t size = 1024;

  static std::size_t index(HandleBits handle) { return (handle ^ (handle >> 4) ^ (handle >> 14)) % size; }

  static Value* fill(Node& node, HandleBits handle, std::unique_ptr<Value> value) {
    Value* filled = value.release();
    delete node.value.exchange(filled, std::memory_order_acq_rel);
    node.handle.store(handle, std::memory_order_release);
    return filled;
  }

  static void free_chain(Node* node) {
    while (node) {
      delete node->value.load(std::memory_order_relaxed);
      delete std::exchange(node, node->next);
    }
  }

  static std::unique_ptr<Value> empty(Node& node) {
    node.handle.store(nobody, std::memory_order_release);
    return std::unique_ptr<Value>(node.value.exchange(nullptr, std::memory_order_acq_rel));
  }

  Node* free_node(HandleBits handle) {
    if (Node* unused = find_in_bucket_of(handle, nobody)) return unused;
    auto& bucket = buckets_[index(handle)];
    Node* node = new Node;
    node->next = bucket.load(std::memory_order_relaxed);
    bucket.store(node, std::memory_order_release);
    return node;
  }

  Node* find_in_bucket_of(HandleBits place, HandleBits handle) const {
    for (Node* node = buckets_[index(place)].load(std::memory_order_relaxed); node; node = node->next)
      if (node->handle.load(std::memory_order_relaxed) == handle) return node;
    return nullptr;
  }

  std::atomic<Node*> buckets_[size] = {};
  std::mutex mutex_;
};

}  // namespace hocket::interpose
