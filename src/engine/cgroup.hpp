// Reads the limits of the control groups that this process is in, of version 2 and of version 1, from a given
// root (tests bring their own).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hocket::engine {

/// Folders of the process's group and of all groups above it, where a controller ("memory", "cpu") has its
/// files. Both versions.
std::vector<std::string> cgroup_folders(const std::string& root, const std::string& controller);

/// First line of a file; nullopt if it cannot be read.
std::optional<std::string> first_line(const std::string& path);

}  // namespace hocket::engine
