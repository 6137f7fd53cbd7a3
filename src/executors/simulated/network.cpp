#include "executors/simulated/network.hpp"

#include "base/error.hpp"

namespace hocket::executors::simulated {

namespace {

void check_protocols(const Level& level) {
  if (level.protocols.empty() || level.protocols.front().from != 0)
    throw Error("level " + level.name + " has no parameters for the smallest messages");
  for (std::size_t i = 0; i < level.protocols.size(); ++i) {
    const LogGP& p = level.protocols[i];
    if (!(p.L >= 0 && p.o >= 0 && p.g >= 0 && p.G >= 0 && p.O >= 0))
      throw Error("level " + level.name + " has a negative parameter");
    if (i > 0 && p.from <= level.protocols[i - 1].from)
      throw Error("level " + level.name + ": protocols must be in the order of sizes");
  }
}

}  // namespace

const LogGP& Level::at(std::uint64_t bytes) const {
  std::size_t i = protocols.size() - 1;
  while (protocols[i].from > bytes) --i;
  return protocols[i];
}

void Network::check() const {
  if (levels.empty() || levels.back().ranks != 0) throw Error("the last level must hold all ranks");
  if (!(copy >= 0 && reduce >= 0)) throw Error("a cost per byte is negative");
  for (std::size_t i = 0; i < levels.size(); ++i) {
    check_protocols(levels[i]);
    const Rank inner = i == 0 ? 1 : levels[i - 1].ranks;
    const bool last = i + 1 == levels.size();
    if (!last && (levels[i].ranks < inner || levels[i].ranks % inner != 0))
      throw Error("level " + levels[i].name + " must hold whole groups of the level before");
  }
}

const Level& Network::between(Rank a, Rank b) const {
  for (const Level& level : levels)
    if (level.holds(a, b)) return level;
  return levels.back();
}

}  // namespace hocket::executors::simulated
