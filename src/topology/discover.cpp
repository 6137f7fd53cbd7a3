#include "topology/discover.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "topology/readers.hpp"
#include "topology/source.hpp"

namespace hocket::topology {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string name_of_this_node() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Hints hints_of_this_task(std::string source) {
  return {std::move(source), variable("SLURM_TOPOLOGY_ADDR"), variable("SLURM_TOPOLOGY_ADDR_PATTERN"),
          name_of_this_node()};
}

std::optional<SwitchPath> discover(const Hints& hints) {
  if (!hints.source.empty()) return switch_paths(read(open_source(hints.source)), {&hints.node, 1}).front();
  if (hints.slurm_address.empty()) return std::nullopt;
  SwitchPath path = parse_slurm_address(hints.slurm_address, hints.slurm_pattern);
  path.pop_back();
  return path;
}

}  // namespace hocket::topology
