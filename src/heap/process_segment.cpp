#include "heap/process_segment.hpp"

#include <unistd.h>

namespace hocket::heap {
namespace {

constinit Segment segment;
bool sees_to_forks = false;
pthread_once_t registered = PTHREAD_ONCE_INIT, opened = PTHREAD_ONCE_INIT;

/// Address space for as much as the machine has: none of it is memory yet.
std::size_t memory_of_machine() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) : 0;
}

void register_for_forks() {
  if (sees_to_forks) return;  // a child whose parent was in the middle of this
  sees_to_forks = pthread_atfork([] { segment.before_fork(); }, [] { segment.after_fork_in_parent(); },
                                 [] { segment.after_fork_in_child(); }) == 0;
}

/// Else parent and children would share it.
void open() {
  see_to_forks();
  if (sees_to_forks) segment.open(memory_of_machine());
}

}  // namespace

void see_to_forks() noexcept {
  pthread_once(&registered, register_for_forks);
}

Segment& process_segment() noexcept {
  return segment;
}

void* take_from_process_segment(std::size_t bytes, std::size_t alignment, bool& is_zero) noexcept {
  pthread_once(&opened, open);
  return segment.take(bytes, alignment, is_zero);
}

}  // namespace hocket::heap
