// Lists of CPUs as the kernel writes them: "0-3,8". libc alone: what is preloaded reads them as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hocket::topology {

inline constexpr std::int64_t most_cpus = 65536;  // Linux is built for 8192 at most

/// A whole number in decimal digits, with nothing around it.
std::optional<std::int64_t> number_in(std::string_view digits);

struct CpuRange {
  std::int64_t first, last;
};
using CpuList = std::vector<CpuRange>;  // upward, apart from each other

/// Nothing if it is no such list. The kernel writes upward, so what is not in order is somebody else's.
std::optional<CpuList> cpu_list_in(std::string_view text);

bool contains(const CpuList& list, std::int64_t cpu);

}  // namespace hocket::topology
