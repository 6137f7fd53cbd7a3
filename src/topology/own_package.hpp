// The package (socket) that the calling thread is bound to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hocket::topology {

/// The operating system's number of the package that has all CPUs on which the calling thread may run;
/// nothing if they are on several, or if the system does not say. `folder`: as /sys/devices/system.
std::optional<std::int64_t> own_package(const std::string& folder = "/sys/devices/system");

}  // namespace hocket::topology
