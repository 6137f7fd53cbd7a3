// Messages on their way over what ranks share: out over the link of each group that they leave, from the
// inside to the outside, and in over the link of each group that they come to. A link serves them one after
// the other, in the order in which their first bytes are there, and passes a byte on as it comes.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "executors/simulated/mailbox.hpp"
#include "executors/simulated/network.hpp"

namespace hocket::executors::simulated {

struct Passage {
  double at = 0;             ///< when its first byte is at the next link
  std::uint64_t order = 0;   ///< among those at the same time
  std::uint64_t pair = 0;    ///< of the mailbox
  Rank from = 0, to = 0;     ///< classes
  std::uint32_t levels = 0;  ///< whose groups it leaves, and comes to
  std::uint32_t passed = 0;  ///< of the links out, and then in
  Message message;
};

class Links {
 public:
  Links(const Network& network, Rank ranks, Rank period);

  /// Whether a message that leaves the groups of the first `levels` goes over any.
  bool are_on_the_way(std::size_t levels) const { return first_link_ < levels; }
  void enter(Passage passage);
  /// Moves what is first, in the order of time, until a message has all its links behind it; nothing if none
  /// is under way. What enters later must not be earlier.
  std::optional<Passage> next();

 private:
  struct Later {
    bool operator()(const Passage& a, const Passage& b) const {
      if (a.at != b.at) return a.at > b.at;
      return a.from != b.from ? a.from > b.from : a.order > b.order;
    }
  };
  struct Free {
    double out = 0, in = 0;
  };

  void pass(Passage& passage);

  const Network& network_;
  std::vector<std::vector<Rank>> group_of_;  ///< of each level and class
  std::vector<std::vector<Free>> free_;      ///< when the links of each level's groups are
  std::size_t first_link_ = 0;               ///< the innermost level with one
  std::priority_queue<Passage, std::vector<Passage>, Later> under_way_;
  std::uint64_t entered_ = 0;
};

}  // namespace hocket::executors::simulated
