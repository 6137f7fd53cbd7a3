#include "topology/own_package.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "topology/cpu_list.hpp"

namespace hocket::topology {
namespace {

std::optional<std::int64_t> package_of(const std::string& topology) {
  constexpr std::size_t more_than_it_has = 64;
  const auto text = read_if_there(topology + "/physical_package_id", more_than_it_has);
  const std::string_view digits = text ? trimmed(*text) : std::string_view{};
  std::int64_t number = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number < 0 ? std::nullopt : std::optional(number);  // -1: the kernel does not know
}

/// The CPUs of the same package; none where the kernel does not say.
CpuList cpus_of_package(const std::string& topology) {
  constexpr std::size_t more_than_it_has = 65536;
  auto text = read_if_there(topology + "/package_cpus_list", more_than_it_has);
  if (!text) text = read_if_there(topology + "/core_siblings_list", more_than_it_has);  // the older name
  return (text ? cpu_list_in(*text) : std::nullopt).value_or(CpuList{});
}

std::vector<int> cpus_in(const cpu_set_t& set) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace

/// A rank that is bound to nothing may run on hundreds of CPUs: the files of one of them say it all.
std::optional<std::int64_t> own_package(const std::string& folder) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::nullopt;
  const std::vector<int> allowed = cpus_in(set);
  if (allowed.empty()) return std::nullopt;
  const std::string topology = folder + "/cpu/cpu" + std::to_string(allowed.front()) + "/topology";
  const CpuList own = cpus_of_package(topology);
  const bool has_all = std::ranges::all_of(allowed, [&](int cpu) { return contains(own, cpu); });
  return has_all ? package_of(topology) : std::nullopt;
}

}  // namespace hocket::topology
