// Whence trees come: one .cpp each. All throw Error, which names the line where there are several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/fabric.hpp"
#include "topology/tree.hpp"

namespace hocket::topology {

/// "leaf:4 node:4 package:2 core:8": 4 leaves with 4 nodes each, and so on. Words before `node` name levels
/// of switches; `socket` is a package, `cache` an l3. Names are the word and a number.
Tree synthetic(std::string_view description);

/// "n[00-03,7],login": Slurm's way of writing many names.
std::vector<std::string> expand_host_list(std::string_view list);
/// Slurm's topology.conf of the plugin topology/tree.
Tree parse_slurm_topology(std::string_view text, std::string_view origin);
/// What a task knows of its own node by SLURM_TOPOLOGY_ADDR ("spine.leaf1.n4") and
/// SLURM_TOPOLOGY_ADDR_PATTERN ("switch.switch.node"): the names from the outside to the node. Levels that
/// the node has no switch of are left out.
std::vector<std::string> parse_slurm_address(std::string_view address, std::string_view pattern);

/// "HOST /row1/rack3" a line: the racks, or other groups, from the outermost to the innermost.
Tree parse_rack_file(std::string_view text, std::string_view origin);

/// What `ibnetdiscover` prints of an InfiniBand subnet.
Fabric parse_ibnetdiscover(std::string_view text, std::string_view origin);

/// The inside of one node, from /sys/devices/system or a recording of it: packages, NUMA nodes, L3 caches and
/// cores of the CPUs that are online. What is not told is left out.
Tree read_sysfs(const std::string& folder, const std::string& node);

}  // namespace hocket::topology
