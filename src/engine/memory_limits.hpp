// How much memory there is for this process: the machine's, or less where a control group says so.
#pragma once

#include <cstddef>
#include <string>

namespace hocket::engine {

/// Bytes; `root` is where /proc and /sys are found.
std::size_t available_memory(const std::string& root = "");

/// The arena's budget when none is asked for: an eighth, but 64 MiB where there is as much.
std::size_t default_budget(const std::string& root = "");

}  // namespace hocket::engine
