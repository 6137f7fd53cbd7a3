// MPI handle -> what Hocket keeps about it. Reading takes no lock and costs about a nanosecond; changes take
// one.
//
// MPI reuses handles at once, and other threads may hold a node they found earlier; so nodes live as long as
// the process, are found by comparing the handle they now stand for, and are taken again by the next handle
// of their bucket.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

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

  /// Takes the place of what was known about the handle.
  Value* insert(HandleBits handle, std::unique_ptr<Value> value) {
    const std::lock_guard lock(mutex_);
    Node* node = find(handle);
    if (!node) node = free_node(handle);
    delete node->value.exchange(value.get(), std::memory_order_acq_rel);
    node->handle.store(handle, std::memory_order_release);
    return value.release();
  }

  void erase(HandleBits handle) {
    const std::lock_guard lock(mutex_);
    if (Node* node = find(handle)) drop(*node);
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto& bucket : buckets_)
      for (Node* node = bucket.load(std::memory_order_relaxed); node; node = node->next) drop(*node);
  }

 private:
  static constexpr std::size_t size = 1024;

  static std::size_t index(HandleBits handle) { return (handle ^ (handle >> 4) ^ (handle >> 14)) % size; }

  static void drop(Node& node) {
    node.handle.store(nobody, std::memory_order_release);
    delete node.value.exchange(nullptr, std::memory_order_acq_rel);
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
