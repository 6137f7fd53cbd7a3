// The CPUs of one core.
#pragma once

#include <cstdint>
#include <string>

#include "topology/cpu_list.hpp"

namespace hocket::topology {

/// Those of the core that has this CPU, itself among them; it alone where the system does not say. `folder`:
/// as /sys/devices/system.
CpuList siblings_of(std::int64_t cpu, const std::string& folder = "/sys/devices/system");

}  // namespace hocket::topology
