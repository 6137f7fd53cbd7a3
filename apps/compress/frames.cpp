#include "compress/frames.hpp"

#include <stdexcept>
#include <string>

namespace compress {
namespace {

std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result)) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(result));
  return result;
}

}  // namespace

std::size_t FrameWriter::write(std::string_view block, char* to) {
  return checked(
      ZSTD_compressCCtx(context_.get(), to, most_bytes(block.size()), block.data(), block.size(), level_));
}

std::optional<std::size_t> read_frames(std::string_view frames, char* to, std::size_t room) {
  const std::size_t bytes = ZSTD_decompress(to, room, frames.data(), frames.size());
  return ZSTD_isError(bytes) ? std::nullopt : std::optional(bytes);
}

}  // namespace compress
