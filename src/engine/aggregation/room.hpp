// Whose groups there are in the network, the longest unused first: a tree has room for few.
#pragma once

#include <mutex>
#include <vector>

namespace hocket::engine::aggregation {

class LeaderGroup;

/// Of a process. Locks itself: several threads may be in calls.
class Room {
 public:
  /// By a call that begins: it is the latest, and nobody may take it away until it is done with.
  void use(LeaderGroup& group) noexcept;
  void done_with(LeaderGroup& group) noexcept;
  void forget(LeaderGroup& group) noexcept;
  /// Takes the group away that has not been used for the longest time, if there is one. Its members hear of
  /// it when they use it next.
  void release_oldest() noexcept;

 private:
  std::mutex mutex_;
  std::vector<LeaderGroup*> groups_;
};

}  // namespace hocket::engine::aggregation
