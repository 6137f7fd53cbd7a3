#include "registration/fork_mark.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace hocket::registration {

namespace {

constexpr std::size_t shortest_mapping = 1;  // the kernel makes it a page

}  // namespace

ForkMark::ForkMark() {
  void* const page =
      mmap(nullptr, shortest_mapping, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw Error("no memory to know a fork by");
  if (madvise(page, shortest_mapping, MADV_WIPEONFORK) != 0) {
    const std::string why = std::strerror(errno);
    munmap(page, shortest_mapping);
    throw Error("a fork cannot be known: " + why);
  }
  page_ = static_cast<volatile char*>(page);
  *page_ = 1;
}

ForkMark::~ForkMark() {
  munmap(const_cast<char*>(page_), shortest_mapping);
}

}  // namespace hocket::registration
