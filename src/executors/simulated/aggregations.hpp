// Aggregations in a tree of switches that reduce: one switch in each group of the levels outside nodes, up to
// the first that holds all members. What members give goes out over the links that they share; a switch sends
// one stream up when the first bytes of all below are there, and what comes back takes the same way down.
// Messages on the same links do not wait for it, nor it for them.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "executors/simulated/classes.hpp"
#include "executors/simulated/mailbox.hpp"

namespace hocket::executors::simulated {

class Aggregations {
 public:
  /// Throws Error where a trace has some, and the network no switches. Both outlive it.
  Aggregations(const Classes& classes, const Network& network);

  /// The first byte of a class's part in its group's next aggregation leaves it now. `group`: the least of
  /// its ranks. Whoever waits for it is `ready` if that was the last part.
  void give(Rank c, Rank group, double now, std::deque<Rank>& ready);
  /// What comes back of the first one that it has not taken. Nothing: others have yet to give, and it waits.
  std::optional<Message> take(Rank c, Rank group);

 private:
  struct Stream {
    double first_byte = 0, last_byte = 0;
    std::uint64_t bytes = 0;
  };
  struct Member {
    std::vector<std::uint64_t> up, down;  ///< bytes, of each aggregation
    std::size_t given = 0, taken = 0;
  };
  using Streams = std::map<Rank, Stream>;  ///< by class
  using Bytes = std::map<Rank, std::uint64_t>;
  struct Operation {
    Streams streams;  ///< what members have given; then what they get
    Bytes wanted;     ///< by each of them
    bool is_over = false;
    std::vector<Rank> waiting;
  };
  struct Group {
    std::map<Rank, Member> members;  ///< by class
    std::vector<Operation> operations;
  };
  struct Free {
    double out = 0, in = 0;
  };

  void count(Rank c, const Trace& trace);
  void check(const Group& group) const;
  void pass(Operation& operation);
  static std::vector<std::pair<double, Rank>> in_time(const Streams& streams);
  Stream climb(const Streams& given, std::size_t& level);
  Streams merged(const Streams& below, std::size_t level);
  void descend(const Stream& result, std::size_t level, Operation& operation);
  Bytes wanted_in(std::size_t level, const Operation& operation) const;
  static Stream part_of(Stream whole, std::uint64_t bytes);
  Rank group_at(std::size_t level, Rank c) const { return group_of_[level][static_cast<std::size_t>(c)]; }
  void over_link(std::size_t level, Rank group, double Free::* way, Stream& stream);
  void through_switch(std::size_t level, Rank group, double Free::* way, Stream& stream);
  void hop(std::size_t level, Stream& stream) const;

  const Network& network_;
  Switches each_switch_;
  const std::size_t first_switch_;
  std::size_t lowest_top_;                   ///< the first level that holds all members, wherever they are
  std::vector<std::vector<Rank>> group_of_;  ///< of each level and class
  std::vector<std::vector<Free>> links_;     ///< when those of each level's groups are
  std::vector<std::vector<Free>> switches_;  ///< for streams up and down
  std::map<Rank, Group> groups_;
};

}  // namespace hocket::executors::simulated
