// All blocks of a group to its leader, the blocks between two groups in one message between their leaders,
// and all blocks for a rank from its leader. Of N ranks in groups of g, a leader sends N/g messages where the
// ranks of its group would have sent g * N.
#include <algorithm>

#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {
namespace {

using ir::Buffer;
using ir::Collective;
using ir::Region;

class Alltoall {
 public:
  explicit Alltoall(Composer& whole)
      : whole_(whole), group_(whole.groups().all_of(whole.top() - 1, whole.rank())) {
    if (whole.leads()) whole.keep_planes(2 * size());
  }

  void compose() {
    for (std::size_t level = 0; level < whole_.levels_inside(); ++level)
      whole_.add(Collective::gather, level, blocks_of_members(level, &Alltoall::all_from));
    if (whole_.reaches_top())
      whole_.add(Collective::alltoall, whole_.top(), blocks_between_groups(), planes_of_a_part());
    for (std::size_t level = whole_.levels_inside(); level-- > 0;)
      whole_.add(Collective::scatter, level, blocks_of_members(level, &Alltoall::all_for));
  }

 private:
  std::uint32_t size() const { return static_cast<std::uint32_t>(group_.size()); }
  std::uint32_t place_of(Rank member) const {
    return static_cast<std::uint32_t>(std::lower_bound(group_.begin(), group_.end(), member) -
                                      group_.begin());
  }
  bool is_own(Rank rank) const { return rank == whole_.rank(); }

  /// Blocks [first, first + count) that a rank of the group sends, by destination.
  Region from(Rank rank, std::uint32_t first, std::uint32_t count) const {
    return is_own(rank) ? ir::input(first, count) : whole_.kept(place_of(rank), first, count);
  }
  /// Blocks that a rank of the group gets, by source.
  Region for_rank(Rank rank, std::uint32_t first, std::uint32_t count) const {
    return is_own(rank) ? ir::output(first, count) : whole_.kept(size() + place_of(rank), first, count);
  }
  Region all_from(Rank rank) const { return from(rank, 0, whole_.chunks()); }
  Region all_for(Rank rank) const { return for_rank(rank, 0, whole_.chunks()); }

  Composer::Append blocks_of_members(std::size_t level, Region (Alltoall::*blocks)(Rank) const) const {
    return [this, level, blocks, among = whole_.members(level)](Buffer, std::uint32_t index,
                                                                Composer::Regions& regions) {
      for (const Rank rank : whole_.spoken_for_by(level, among[index]))
        regions.push_back((this->*blocks)(rank));
    };
  }

  /// What leaders forward for others (Bruck) lies beside the group's own blocks, if the groups are of one
  /// size: what one has for another is a square of blocks, a row of it in a plane.
  std::uint32_t planes_of_a_part() const { return whole_.groups().are_equal() ? size() : 0; }
  void append_forwarded(std::uint32_t index, std::uint32_t leaders, Composer::Regions& regions) const {
    const std::uint32_t plane = index / leaders * size(), first = index % leaders * size();
    for (std::uint32_t source = 0; source < size(); ++source)
      for (std::uint32_t destination = 0; destination < size(); ++destination)
        regions.push_back(whole_.scratch(plane + source, first + destination, 1));
  }

  /// By source, then by destination, on both sides.
  Composer::Append blocks_between_groups() const {
    return [this, among = whole_.members(whole_.top())](Buffer buffer, std::uint32_t index,
                                                        Composer::Regions& regions) {
      if (buffer == Buffer::scratch)
        return append_forwarded(index, static_cast<std::uint32_t>(among.size()), regions);
      const std::vector<Rank> others = whole_.spoken_for_by(whole_.top(), among[index]);
      const bool sends = buffer == Buffer::input;
      for (const Rank source : sends ? group_ : std::span<const Rank>(others))
        for (const Rank destination : sends ? std::span<const Rank>(others) : group_)
          regions.push_back(sends ? from(source, static_cast<std::uint32_t>(destination), 1)
                                  : for_rank(destination, static_cast<std::uint32_t>(source), 1));
    };
  }

  Composer& whole_;
  const std::span<const Rank> group_;  ///< all ranks below the same outermost leader
};

}  // namespace

void compose_alltoall(Composer& whole) {
  Alltoall(whole).compose();
}

}  // namespace hocket::passes
