#include "engine/places.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "engine/fingerprint.hpp"
#include "topology/readers.hpp"

namespace hocket::engine {
namespace {

std::string first_line_of(const char* file) {
  std::array<char, 256> line{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(std::fopen(file, "re"), std::fclose);
  if (!opened || !std::fgets(line.data(), static_cast<int>(line.size()), opened.get())) return {};
  return line.data();
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::vector<std::string> switches_above(const std::string& node, const std::string& source) {
  std::vector<std::string> path;
  std::string text;
  if (std::FILE* file = std::fopen(source.c_str(), "re")) {
    for (int c; (c = std::fgetc(file)) != EOF;) text.push_back(static_cast<char>(c));
    std::fclose(file);
  }
  const topology::Tree tree = text.empty() ? topology::synthetic(source) : topology::parse_rack_file(text, source);
  const auto id = tree.node(node);
  if (id == topology::Tree::none) return path;
  for (auto at = tree.at(id).parent; at != topology::Tree::root; at = tree.at(at).parent)
    path.insert(path.begin(), tree.at(at).name);
  return path;
}

/// Nodes are called as hosts are, or, if they are pretended, as in a machine in words.
std::string node_name(const Options& options, Rank world_rank) {
  return options.node_size > 0 ? "node" + std::to_string(world_rank / options.node_size) : host_name();
}

}  // namespace

Address address_of(const Options& options, Rank world_rank, bool reads) {
  const std::string node = node_name(options, world_rank);
  // Two hosts may have one name, and two containers of a host have two.
  Address address{hash_of(node + "@" + first_line_of("/proc/sys/kernel/random/boot_id")), {}};
  if (!reads || options.topology.empty()) return address;
  std::string path;
  for (const std::string& name : switches_above(node, options.topology)) {
    path += "/" + name;
    address.switches.insert(address.switches.begin(), hash_of(path));
  }
  return address;
}

namespace {

/// The numbers of equal names.
passes::GroupNumbers numbered(const std::vector<std::uint64_t>& names) {
  std::map<std::uint64_t, std::uint32_t> known;
  passes::GroupNumbers numbers;
  for (const std::uint64_t name : names)
    numbers.push_back(known.try_emplace(name, static_cast<std::uint32_t>(known.size())).first->second);
  return numbers;
}

/// One column of the table, with what only one rank of a node has said for all of them.
std::vector<std::uint64_t> column(std::span<const std::uint64_t> names, std::size_t width, std::size_t level) {
  std::map<std::uint64_t, std::uint64_t> of_node;
  for (std::size_t at = 0; at < names.size(); at += width)
    if (names[at + level] != 0) of_node.try_emplace(names[at], names[at + level]);
  std::vector<std::uint64_t> result;
  for (std::size_t at = 0; at < names.size(); at += width) {
    const auto said = of_node.find(names[at]);
    result.push_back(said == of_node.end() ? 0 : said->second);
  }
  return result;
}

}  // namespace

Places::Places(std::span<const std::uint64_t> names, std::size_t levels) {
  for (std::size_t level = 0; level <= levels; ++level)
    rows_.push_back(numbered(column(names, 1 + levels, level)));
  const passes::Groups checked(rows_);  // throws where a node is under two switches
}

std::uint32_t Places::groups_on(std::size_t row) const noexcept {
  return *std::ranges::max_element(rows_[row]) + 1;
}

passes::Neighbourhood Places::of(std::span<const Rank> members) const {
  std::vector<passes::GroupNumbers> rows;
  for (const passes::GroupNumbers& all : rows_) {
    passes::GroupNumbers& row = rows.emplace_back();
    for (const Rank member : members) row.push_back(all[static_cast<std::size_t>(member)]);
  }
  return passes::Neighbourhood(std::move(rows));
}

}  // namespace hocket::engine
