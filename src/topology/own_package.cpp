#include "topology/own_package.hpp"

#include <sched.h>

#include <charconv>

#include "base/file.hpp"
#include "base/text.hpp"

namespace hocket::topology {
namespace {

std::optional<std::int64_t> package_of(const std::string& folder, int cpu) {
  constexpr std::size_t more_than_it_has = 64;
  const std::string path = folder + "/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id";
  const auto text = read_if_there(path, more_than_it_has);
  const std::string_view digits = text ? trimmed(*text) : std::string_view{};
  std::int64_t number = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number < 0 ? std::nullopt : std::optional(number);  // -1: the kernel does not know
}

}  // namespace

std::optional<std::int64_t> own_package(const std::string& folder) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::nullopt;
  std::optional<std::int64_t> own;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const auto package = package_of(folder, cpu);
    if (!package || (own && own != package)) return std::nullopt;
    own = package;
  }
  return own;
}

}  // namespace hocket::topology
