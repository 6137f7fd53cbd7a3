#include "registration/mappings.hpp"

#include <cinttypes>
#include <cstdio>
#include <memory>

namespace hocket::registration {

namespace {

struct Mapping {
  Pages pages;
  bool is_private = false;
};

/// False: no more of them. What a line says behind the inode, if anything, is a name.
bool next_mapping(std::FILE* maps, Mapping& mapping) noexcept {
  char shared = 's';
  std::uint64_t inode = 1;
  const int fields = std::fscanf(maps, "%" SCNxPTR "-%" SCNxPTR " %*c%*c%*c%c %*s %*s %" SCNu64 "%*[^\n]",
                                 &mapping.pages.begin, &mapping.pages.end, &shared, &inode);
  mapping.is_private = shared == 'p' && inode == 0;
  return fields == 4;
}

}  // namespace

bool are_private_memory(const Pages& pages) noexcept {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  std::uintptr_t seen = pages.begin;
  for (Mapping one; maps && seen < pages.end && next_mapping(maps.get(), one);) {
    if (one.pages.end <= seen) continue;
    if (one.pages.begin > seen || !one.is_private) return false;
    seen = one.pages.end;
  }
  return seen >= pages.end;
}

}  // namespace hocket::registration
