#include "engine/places.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/fingerprint.hpp"
#include "topology/discover.hpp"
#include "topology/own_package.hpp"

namespace hocket::engine {
namespace {

std::string boot_of_host() {
  constexpr std::size_t more_than_it_has = 256;
  return read_if_there("/proc/sys/kernel/random/boot_id", more_than_it_has).value_or("");
}

/// Nodes are called as hosts are, or, if they are pretended, as in a machine in words.
topology::Hints hints(const Options& options, Rank world_rank) {
  topology::Hints found = topology::hints_of_this_task(options.topology);
  if (options.node_size > 0) found.node = "node" + std::to_string(world_rank / options.node_size);
  return found;
}

std::uint64_t own_socket(const Options& options, Rank world_rank) {
  if (options.socket_size > 0) return 1 + static_cast<std::uint64_t>(world_rank / options.socket_size);
  const auto package = topology::own_package();
  return package ? 1 + static_cast<std::uint64_t>(*package) : 0;
}

}  // namespace

Address address_of(const Options& options, Rank world_rank, bool reads) {
  const topology::Hints where = hints(options, world_rank);
  // Two hosts may have one name, and two containers of a host have two.
  Address address{hash_of(where.node + "@" + boot_of_host()),
                  {},
                  own_internet_addresses(),
                  own_socket(options, world_rank)};
  if (!reads) return address;
  std::string path;
  for (const std::string& name : topology::discover(where).value_or(topology::SwitchPath{})) {
    path += "/" + name;
    address.switches.insert(address.switches.begin(), hash_of(path));
  }
  return address;
}

std::vector<std::uint64_t> names_of(const Address& address, std::size_t levels) {
  std::vector<std::uint64_t> names{address.node};
  names.insert(names.end(), address.switches.begin(), address.switches.end());
  names.resize(1 + levels, address.switches.empty() ? 0 : address.switches.back());
  return names;
}

namespace {

/// One column of the table, with what only one rank of a node has said for all of them.
std::vector<std::uint64_t> column(std::span<const std::uint64_t> names, std::size_t width,
                                  std::size_t level) {
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

/// One name for the socket of a node, whose sockets are counted on it anew.
std::vector<std::uint64_t> sockets_of_all(const Told& told) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> known;
  std::vector<std::uint64_t> result;
  for (std::size_t rank = 0; rank < told.sockets.size(); ++rank)
    result.push_back(
        known.try_emplace({told.names[rank * (1 + told.levels)], told.sockets[rank]}, known.size())
            .first->second);
  return result;
}

bool somebody_is_bound(const Told& told) {
  return std::ranges::any_of(told.sockets, [](std::uint64_t socket) { return socket != 0; });
}

}  // namespace

Places::Places(const Told& told, std::shared_ptr<passes::Tables> tables)
    : tables_(std::move(tables)), ranks_(told.names.size() / (1 + told.levels)), levels_(told.levels) {
  if (levels_ > passes::Neighbourhood::most_rows - 1) throw Error("there are too many levels of switches");
  const std::size_t rows = levels_ + 2, size = rows * (1 + ranks_) + told.internet.size();
  passes::PartsOf<const std::uint32_t> parts(
      tables_->get(0, size, [&](passes::NewTable table) { fill(told, table); }));
  groups_ = parts.next(rows);
  rows_ = parts.next(rows * ranks_);
  internet_ = parts.next(told.internet.size());
}

void Places::fill(const Told& told, passes::NewTable table) const {
  passes::PartsOf<std::uint32_t> parts(table);
  const passes::NewTable groups = parts.next(levels_ + 2);
  std::vector<passes::GroupNumbers> rows;
  const auto number = [&](std::size_t row, const std::vector<std::uint64_t>& names) {
    const passes::NewTable numbers = parts.next(ranks_);
    groups[row] = passes::number_groups(ranks_, [&](std::size_t rank) { return names[rank]; }, numbers);
    rows.emplace_back(numbers.begin(), numbers.end());
  };
  for (std::size_t level = 0; level <= levels_; ++level)
    number(level, column(told.names, 1 + levels_, level));
  const passes::Groups checked(rows);  // throws where a node is under two switches
  if (somebody_is_bound(told))
    number(levels_ + 1, sockets_of_all(told));
  else
    parts.next(ranks_);
  std::ranges::copy(told.internet, parts.next(told.internet.size()).begin());
}

std::uint32_t Places::group(std::size_t row, Rank rank) const {
  return rows_[row * ranks_ + static_cast<std::size_t>(rank)];
}

bool Places::has_internet(Rank world_rank, const std::string& address) const noexcept {
  constexpr std::size_t each = InternetAddresses{}.size();
  const std::size_t first = static_cast<std::size_t>(world_rank) * each;
  return first < internet_.size() && holds(internet_.subspan(first, each), address);
}

passes::Neighbourhood Places::of(std::span<const Rank> members,
                                 std::shared_ptr<passes::Tables> tables) const {
  return passes::Neighbourhood(
      std::move(tables), {static_cast<Rank>(members.size()), levels_ + 1, sockets() > 0},
      [&](std::size_t row, Rank rank) { return group(row, members[static_cast<std::size_t>(rank)]); });
}

}  // namespace hocket::engine
