#include "registration/mappings.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace hocket::registration {

namespace {

struct Mapping {
  Pages pages;
  bool is_private = false;
};

/// "7f0000000000-7f0000021000 rw-p 00000000 00:00 0   [a name]"; the last number is a file's.
Mapping mapping_of(const char* line) noexcept {
  char* rest = nullptr;
  Mapping mapping;
  mapping.pages.begin = std::strtoull(line, &rest, 16);
  mapping.pages.end = std::strtoull(rest + 1, &rest, 16);
  const bool is_shared = rest[4] != 'p';
  std::strtoull(rest + 5, &rest, 16);
  std::strtoull(rest, &rest, 16);
  std::strtoull(rest + 1, &rest, 16);
  mapping.is_private = !is_shared && std::strtoull(rest, &rest, 10) == 0;
  return mapping;
}

/// The kernel's list of them.
class Lines {
 public:
  Lines() = default;
  ~Lines() { std::free(line_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// Null: no more.
  const char* next() noexcept { return file_ && getline(&line_, &room_, file_.get()) > 0 ? line_ : nullptr; }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::fopen("/proc/self/maps", "re"), std::fclose};
  char* line_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace

bool are_private_memory(const Pages& pages) noexcept {
  Lines lines;
  std::uintptr_t seen = pages.begin;
  while (seen < pages.end) {
    const char* const line = lines.next();
    if (!line) return false;
    const Mapping one = mapping_of(line);
    if (one.pages.end <= seen) continue;
    if (one.pages.begin > seen || !one.is_private) return false;
    seen = one.pages.end;
  }
  return true;
}

}  // namespace hocket::registration
