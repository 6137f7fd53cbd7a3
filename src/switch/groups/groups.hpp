// All groups of a switch: who a frame is for, and what becomes of groups whose members or parent are lost.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

#include "switch/groups/group.hpp"

namespace hocket::aggregation {

class Groups {
 public:
  explicit Groups(Site& site) : site_(site) {}

  // Throw wire::Malformed for what breaks the rules, and Error with its words when the other side gives up
  // the connection. Of groups that are over, or left, nothing is heard any more.
  void hear_from_below(Port& child, const wire::Piece& piece);
  void hear_from_above(const wire::Piece& piece);

  /// From now on; null: it is lost, and so are the groups that need it.
  void set_parent(Port* parent, std::string_view why_lost = {});
  void lose(Port& child, std::string_view why);

  /// From time to time.
  void look_at_clock();
  /// Of those that are over.
  void sweep();
  std::size_t count() const noexcept { return groups_.size(); }

 private:
  void hear_join(Port& port, std::uint32_t number, const wire::Join& join);
  void found(Port& port, std::uint32_t number, const wire::Join& join);
  void fail_all_of(Port& port, wire::Error error, std::string_view words);

  Site& site_;
  std::multimap<GroupName, std::unique_ptr<Group>> groups_;  ///< those that are over until they are swept
};

}  // namespace hocket::aggregation
