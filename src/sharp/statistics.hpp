// What a rank did so far.
#pragma once

#include <cstdint>
#include <cstdio>

namespace hocket::sharp {

struct Statistics {
  std::uint64_t requests = 0, bytes = 0;           ///< posted; of what they combine or copy
  std::uint64_t datagram_pieces = 0, streams = 0;  ///< operations that the tree was given
  std::uint64_t failed = 0;                        ///< requests
  std::uint64_t locks_asked = 0, locks_refused = 0;
  std::uint64_t groups = 0;  ///< made

  void print(std::FILE* stream, int rank) const {
    std::fprintf(stream,
                 "libsharp_coll: rank %d: %lu groups, %lu requests of %lu bytes (%lu failed), %lu datagram "
                 "pieces, %lu streams, "
                 "%lu locks asked for (%lu refused)\n",
                 rank, groups, requests, bytes, failed, datagram_pieces, streams, locks_asked, locks_refused);
  }
};

}  // namespace hocket::sharp
