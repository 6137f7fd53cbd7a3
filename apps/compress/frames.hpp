// Blocks as frames of zstd. Frames one after the other are a valid .zst file.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace compress {

using Bytes = std::vector<char>;

class FrameWriter {
 public:
  explicit FrameWriter(int level) : level_(level), context_(ZSTD_createCCtx()) {}

  static std::size_t most_bytes(std::size_t block) { return ZSTD_compressBound(block); }

  // Compresses one block to `to`, where there are most_bytes(); returns the frame's length.
  std::size_t write(std::string_view block, char* to);

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  int level_;
  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

// Decompresses frame after frame into `to`, which has `room` bytes; returns how many there were, or nothing
// where the frames are damaged.
std::optional<std::size_t> read_frames(std::string_view frames, char* to, std::size_t room);

}  // namespace compress
