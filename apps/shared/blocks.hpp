// n things dealt out to `parts` owners in contiguous blocks that differ by at most one.
#pragma once

namespace apps {

struct Block {
  int begin = 0, count = 0;
};

inline Block block_of(int n, int parts, int part) {
  const int least = n / parts, longer = n % parts;
  return {part * least + (part < longer ? part : longer), least + (part < longer ? 1 : 0)};
}

}  // namespace apps
