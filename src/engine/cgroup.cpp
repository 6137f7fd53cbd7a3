#include "engine/cgroup.hpp"

#include <algorithm>
#include <fstream>

namespace hocket::engine {
namespace {

/// "a,b,c" holds "b".
bool holds(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// From the group up to the mount. In a container the path may be the host's: then only the mount exists.
void add_with_parents(std::vector<std::string>& folders, const std::string& mount, std::string path) {
  while (path.size() > 1) {
    folders.push_back(mount + path);
    path.resize(std::max<std::size_t>(path.find_last_of('/'), 0));
  }
  folders.push_back(mount);
}

}  // namespace

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::vector<std::string> cgroup_folders(const std::string& root, const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/path" or "4:cpu,cpuacct:/path"
    const auto first = line.find(':');
    const auto second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string list = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::string mounts = root + "/sys/fs/cgroup";
    if (list.empty()) {
      add_with_parents(folders, mounts, path);
      add_with_parents(folders, mounts + "/unified", path);
    } else if (holds(list, controller)) {
      add_with_parents(folders, mounts + "/" + controller, path);
      if (list != controller) add_with_parents(folders, mounts + "/" + list, path);
    }
  }
  return folders;
}

}  // namespace hocket::engine
