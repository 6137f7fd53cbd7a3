#include "platform.hpp"

#include <map>
#include <string>

namespace hocket::bindings {

namespace {

namespace s4u = simgrid::s4u;
using Direction = s4u::LinkInRoute::Direction;

class Building {
 public:
  explicit Building(const Platform& platform) : platform_(platform), zones_(platform.groups.size()) {
    all_ = s4u::create_star_zone("all");
  }

  s4u::Host* add(std::size_t node) {
    s4u::NetZone* zone = zone_of(node, 0);
    const std::string name = "node" + std::to_string(node);
    s4u::Host* host = zone->create_host(name, 1e9);
    attach(zone, host->get_netpoint(), nullptr, name, platform_.card);
    const auto* inside = zone->create_link(name + " inside", platform_.inside.bandwidth)
                             ->set_latency(platform_.inside.latency)
                             ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                             ->seal();
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(inside)});
    return host;
  }

  void seal() {
    for (auto& level : zones_)
      for (auto& [group, zone] : level) zone->seal();
    all_->seal();
  }

 private:
  /// The one that holds a node on that level and outwards.
  s4u::NetZone* zone_of(std::size_t node, std::size_t level) {
    if (level == zones_.size()) return all_;
    const std::uint32_t group = platform_.groups[level][node];
    auto& zone = zones_[level][group];
    if (zone) return zone;
    s4u::NetZone* above = zone_of(node, level + 1);
    const std::string name = "level" + std::to_string(level) + " group" + std::to_string(group);
    zone = s4u::create_star_zone(name)->set_parent(above);
    auto* router = zone->create_router(name + " router");
    zone->add_route(router, nullptr, nullptr, nullptr, std::vector<s4u::LinkInRoute>{}, true);
    attach(above, zone->get_netpoint(), router, name, platform_.uplinks[level]);
    return zone;
  }

  static void attach(s4u::NetZone* zone, simgrid::kernel::routing::NetPoint* what,
                     simgrid::kernel::routing::NetPoint* gateway, const std::string& name, const Wire& wire) {
    const auto* link =
        zone->create_split_duplex_link(name + " link", wire.bandwidth)->set_latency(wire.latency)->seal();
    zone->add_route(what, nullptr, gateway, nullptr, {{link, Direction::UP}}, true);
  }

  const Platform& platform_;
  s4u::NetZone* all_;
  std::vector<std::map<std::uint32_t, s4u::NetZone*>> zones_;
};

}  // namespace

std::vector<simgrid::s4u::Host*> build(const Platform& platform, std::size_t nodes) {
  Building building(platform);
  std::vector<s4u::Host*> hosts;
  for (std::size_t node = 0; node < nodes; ++node) hosts.push_back(building.add(node));
  building.seal();
  return hosts;
}

}  // namespace hocket::bindings
