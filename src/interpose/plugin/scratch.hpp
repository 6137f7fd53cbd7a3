// Memory of one communicator for packed data and converted counts. It grows and never shrinks: no allocation
// once warm.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace hocket::interpose {

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(memory_); }

  /// At least `bytes` bytes, aligned for any type; what was there before is lost when it grows.
  void* get(std::size_t bytes) {
    if (bytes > bytes_) grow(bytes);
    return memory_;
  }
  template <class T>
  T* array(std::size_t count) {
    return static_cast<T*>(get(count * sizeof(T)));
  }

 private:
  void grow(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    bytes = (bytes + bytes / 4 + page) / page * page;
    std::free(memory_);
    bytes_ = 0;
    memory_ = std::aligned_alloc(page, bytes);
    if (!memory_) throw std::bad_alloc();
    bytes_ = bytes;
  }
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hocket::interpose
