// The inside of a node, as Linux tells it below /sys/devices/system. libc alone: what is preloaded reads it
// as well. Containers and virtual machines leave out what they like, so all but the CPUs may be missing.
#include <dirent.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/file.hpp"
#include "topology/cpu_list.hpp"
#include "topology/cpus.hpp"
#include "topology/lines.hpp"
#include "topology/readers.hpp"

namespace hocket::topology {
namespace {

constexpr std::size_t most_bytes = 65536;
constexpr int most_caches = 10;  // of a CPU

std::optional<CpuList> read_list(const std::string& path) {
  const auto text = read_if_there(path, most_bytes);
  if (!text) return std::nullopt;
  auto list = cpu_list_in(*text);
  if (!list) throw Error(path + ": " + shown(trimmed(*text)) + " is no list of CPUs");
  return list;
}

/// Unknown where there is no such file, or -1 in it.
std::int64_t read_number(const std::string& path) {
  const auto text = read_if_there(path, most_bytes);
  if (!text) return Cpu::unknown;
  const std::string_view digits = trimmed(std::string_view(*text).substr(0, text->find('\n')));
  const auto value = number_in(digits);
  if (!value) throw Error(path + ": " + shown(digits) + " is no number");
  return std::max(*value, Cpu::unknown);
}

/// The numbers N of what is called "cpuN" in a folder, upward.
std::vector<std::int64_t> numbered(const std::string& folder, std::string_view prefix) {
  std::vector<std::int64_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    const auto number = number_in(name.substr(prefix.size()));
    if (number && *number >= 0 && *number < most_cpus) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

class Machine {
 public:
  explicit Machine(const std::string& folder) : folder_(folder), online_(find_online()) {}

  std::vector<Cpu> cpus() const {
    std::vector<Cpu> cpus;
    cpus.reserve(online_.size());
    for (const std::int64_t number : online_) cpus.push_back(read_cpu(number));
    add_numa(cpus);
    return cpus;
  }

 private:
  /// Those of the kernel's list that have a folder; all of either where the other is missing.
  std::vector<std::int64_t> find_online() const {
    const std::vector<std::int64_t> there = numbered(folder_ + "/cpu", "cpu");
    const auto listed = read_list(folder_ + "/cpu/online");
    std::vector<std::int64_t> online;
    if (!listed) online = there;
    for (const CpuRange& range : listed.value_or(CpuList{}))
      for (std::int64_t i = range.first; i <= range.last; ++i)
        if (there.empty() || std::binary_search(there.begin(), there.end(), i)) online.push_back(i);
    if (online.empty()) throw Error("no CPU below '" + folder_ + "'");
    return online;
  }

  Cpu read_cpu(std::int64_t number) const {
    const std::string own = folder_ + "/cpu/cpu" + std::to_string(number);
    Cpu cpu;
    cpu.number = number;
    cpu.package = read_number(own + "/topology/physical_package_id");
    cpu.core = lowest_sharing(own + "/topology/core_cpus_list", number);
    if (cpu.core == Cpu::unknown)  // the older name
      cpu.core = lowest_sharing(own + "/topology/thread_siblings_list", number);
    cpu.l3 = read_l3(own + "/cache/index", number);
    return cpu;
  }

  std::int64_t read_l3(const std::string& index, std::int64_t number) const {
    for (int i = 0; i < most_caches; ++i) {
      const std::string cache = index + std::to_string(i);
      if (read_number(cache + "/level") == 3) return lowest_sharing(cache + "/shared_cpu_list", number);
    }
    return Cpu::unknown;
  }

  /// Of a list that does not name the CPU whose it is nothing is known.
  std::int64_t lowest_sharing(const std::string& path, std::int64_t number) const {
    const auto sharing = read_list(path);
    if (!sharing || !contains(*sharing, number)) return Cpu::unknown;
    for (const CpuRange& range : *sharing) {
      const auto found = std::lower_bound(online_.begin(), online_.end(), range.first);
      if (found != online_.end() && *found <= range.last) return *found;
    }
    return Cpu::unknown;
  }

  /// Nodes of memory alone have no CPUs.
  void add_numa(std::vector<Cpu>& cpus) const {
    for (const std::int64_t node : numbered(folder_ + "/node", "node")) {
      const auto local = read_list(folder_ + "/node/node" + std::to_string(node) + "/cpulist");
      for (const CpuRange& range : local.value_or(CpuList{})) {
        const auto begin = std::lower_bound(online_.begin(), online_.end(), range.first);
        const auto end = std::upper_bound(begin, online_.end(), range.last);
        for (auto i = begin; i != end; ++i) {
          Cpu& cpu = cpus[static_cast<std::size_t>(i - online_.begin())];
          if (cpu.numa == Cpu::unknown) cpu.numa = node;
        }
      }
    }
  }

  const std::string folder_;
  const std::vector<std::int64_t> online_;  ///< upward
};

}  // namespace

Tree read_sysfs(const std::string& folder, const std::string& node) {
  return tree_of(node, Machine(folder).cpus());
}

}  // namespace hocket::topology
