#include "engine/places.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

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

struct FreeList {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

InternetAddresses own_internet_addresses() {
  InternetAddresses found{};
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, FreeList> owner(list);
  std::size_t next = 0;
  for (const ifaddrs* each = list; each && next < found.size(); each = each->ifa_next)
    if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET && (each->ifa_flags & IFF_LOOPBACK) == 0) {
      sockaddr_in address;
      std::memcpy(&address, each->ifa_addr, sizeof address);
      found[next++] = address.sin_addr.s_addr;
    }
  return found;
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

}  // namespace

Places::Places(std::span<const std::uint64_t> names, std::size_t levels) {
  for (std::size_t level = 0; level <= levels; ++level)
    rows_.push_back(numbered(column(names, 1 + levels, level)));
  const passes::Groups checked(rows_);  // throws where a node is under two switches
}

void Places::set_sockets(std::span<const std::uint64_t> of_ranks) {
  if (std::ranges::none_of(of_ranks, [](std::uint64_t socket) { return socket != 0; })) return;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> known;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
    sockets_.push_back(
        known.try_emplace({rows_.front()[rank], of_ranks[rank]}, static_cast<std::uint32_t>(known.size()))
            .first->second);
}

std::uint32_t Places::sockets() const noexcept {
  return sockets_.empty() ? 0 : *std::ranges::max_element(sockets_) + 1;
}

bool Places::has_internet(Rank world_rank, const std::string& address) const noexcept {
  const auto rank = static_cast<std::size_t>(world_rank);
  in_addr wanted{};
  if (rank >= internet_.size() || inet_pton(AF_INET, address.c_str(), &wanted) != 1) return false;
  return wanted.s_addr != 0 && std::ranges::find(internet_[rank], wanted.s_addr) != internet_[rank].end();
}

std::uint32_t Places::groups_on(std::size_t row) const noexcept {
  return *std::ranges::max_element(rows_[row]) + 1;
}

passes::Neighbourhood Places::of(std::span<const Rank> members) const {
  const auto of_members = [&](const passes::GroupNumbers& all) {
    passes::GroupNumbers row;
    for (const Rank member : members) row.push_back(all[static_cast<std::size_t>(member)]);
    return row;
  };
  std::vector<passes::GroupNumbers> rows;
  for (const passes::GroupNumbers& all : rows_) rows.push_back(of_members(all));
  return passes::Neighbourhood(std::move(rows),
                               sockets_.empty() ? passes::GroupNumbers{} : of_members(sockets_));
}

}  // namespace hocket::engine
