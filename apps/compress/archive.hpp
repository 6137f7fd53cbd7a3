// What the root gathers: the frames of all ranks in the order of the input. It grows by a tile at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

namespace compress {

class Archive {
 public:
  explicit Archive(std::size_t most_bytes) : bytes_(std::make_unique<char[]>(most_bytes)) {}

  // Makes room for one more tile: where each rank's frames go, relative to the address returned.
  char* append(const std::vector<int>& sizes, std::vector<int>& offsets) {
    char* const begin = bytes_.get() + size_;
    offsets.resize(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), 0);
    size_ += offsets.back() + sizes.back();
    return begin;
  }

  std::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace compress
