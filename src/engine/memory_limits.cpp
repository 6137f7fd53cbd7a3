#include "engine/memory_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "engine/cgroup.hpp"

namespace hocket::engine {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t smallest_default = std::size_t{64} << 20;

std::size_t number_in(const std::string& path) {
  const auto line = first_line(path);
  if (!line || line->empty() || line->front() < '0' || line->front() > '9') return no_limit;  // "max"
  return std::strtoull(line->c_str(), nullptr, 10);
}

/// "MemTotal:       8123456 kB", the first line.
std::size_t physical_memory(const std::string& root) {
  const std::string line = first_line(root + "/proc/meminfo").value_or("");
  const auto digits = line.find_first_of("0123456789");
  return digits == line.npos ? no_limit : std::strtoull(line.c_str() + digits, nullptr, 10) * 1024;
}

}  // namespace

std::size_t available_memory(const std::string& root) {
  std::size_t least = physical_memory(root);
  for (const std::string& folder : cgroup_folders(root, "memory"))
    least =
        std::min({least, number_in(folder + "/memory.max"), number_in(folder + "/memory.limit_in_bytes")});
  return least == no_limit ? std::size_t{1} << 30 : least;
}

std::size_t default_budget(const std::string& root) {
  const std::size_t available = available_memory(root);
  return std::max(available / 8, std::min(smallest_default, available / 2));
}

}  // namespace hocket::engine
