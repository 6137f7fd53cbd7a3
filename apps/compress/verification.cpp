#include "compress/verification.hpp"

#include <cstdio>

#include "compress/frames.hpp"

namespace compress {

bool gives_back(const Archive& archive, const Input& input) {
  Bytes original(input.bytes()), decompressed(input.bytes());
  input.read({0, input.bytes()}, original.data());
  const auto length = read_frames(archive.bytes(), decompressed.data(), decompressed.size());
  return length == original.size() && decompressed == original;
}

std::string checksum(const Archive& archive) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : archive.bytes()) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace compress
