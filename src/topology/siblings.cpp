#include "topology/siblings.hpp"

#include "base/file.hpp"

namespace hocket::topology {

CpuList siblings_of(std::int64_t cpu, const std::string& folder) {
  constexpr std::size_t more_than_it_has = 65536;
  const std::string topology = folder + "/cpu/cpu" + std::to_string(cpu) + "/topology";
  auto text = read_if_there(topology + "/core_cpus_list", more_than_it_has);
  if (!text) text = read_if_there(topology + "/thread_siblings_list", more_than_it_has);  // the older name
  const auto list = text ? cpu_list_in(*text) : std::nullopt;
  return list && contains(*list, cpu) ? *list : CpuList{{cpu, cpu}};
}

}  // namespace hocket::topology
