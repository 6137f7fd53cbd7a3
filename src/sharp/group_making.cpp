// How members make a group: they agree that all of them can, and on its number; each joins the tree; and they
// agree on the tree's answer, since a member whose connection has just broken has got another one.
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "sharp/context.hpp"
#include "sharp/refusal.hpp"

namespace hocket::sharp {
namespace {

/// What a member has to say first; agreed: what holds for all.
struct Invitation {
  std::int32_t error = SHARP_COLL_SUCCESS;
  std::uint32_t group = 0;  ///< the first member's
  std::uint32_t refuses_locks = 0;

  static Invitation of_all(std::span<const Invitation> members) noexcept {
    Invitation agreed = members.front();
    for (const Invitation& one : members) {
      if (agreed.error == SHARP_COLL_SUCCESS) agreed.error = one.error;
      agreed.refuses_locks |= one.refuses_locks;
    }
    return agreed;
  }
};

/// Nobody knows which numbers are in use in the tree, by other jobs too: any is as good.
std::uint32_t new_group() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw Refusal(SHARP_COLL_EGROUP_ID, "no random numbers");
  return std::max(number, 1U);
}

/// What may be otherwise in a moment: groups that were just left may not have gone yet. Not what somebody has
/// waited for in vain.
bool is_worth_another_try(int error) noexcept {
  return error == SHARP_COLL_EGROUP_ALLOC || error == SHARP_COLL_EQUOTA;
}

/// A switch does not answer, or has lost the one above it.
bool is_in_vain(int error) noexcept {
  return error == SHARP_COLL_EGROUP_JOIN || error == SHARP_COLL_ECONN_TREE;
}

}  // namespace

Communicator& Context::make_communicator(const sharp_coll_comm_init_spec& spec) {
  const OutOfBand members(spec_.oob_colls, spec.oob_ctx, spec.rank, spec.size);
  Made communicator;
  int error = join(members, communicator);
  if (is_worth_another_try(error)) error = join(members, communicator);
  const auto lock = guard();
  if (error != SHARP_COLL_SUCCESS) {
    communicator.reset();
    throw Refusal(static_cast<sharp_error_no>(error), std::string("no group: ") + words_of(error));
  }
  ++statistics_.groups;
  communicators_.push_back(std::move(communicator));
  return *communicators_.back();
}

int Context::refusal_of_one_more() const noexcept {
  const auto living = static_cast<std::uint64_t>(
      std::ranges::count_if(communicators_, [](const Made& one) { return one->is_in_tree(); }));
  if (settings_.faults.group || living >= terms_.most_groups) return SHARP_COLL_EGROUP_ALLOC;
  const std::uint64_t operations = (living + 1) * terms_.operations_per_group;
  if (settings_.faults.quota || operations > terms_.most_operations) return SHARP_COLL_EQUOTA;
  const auto is_lost = [](const std::unique_ptr<Tree>& tree) { return tree->is_lost(); };
  return rests() || std::ranges::any_of(trees_, is_lost) ? SHARP_COLL_ECONN_TREE : SHARP_COLL_SUCCESS;
}

int Context::join(const OutOfBand& members, Made& communicator) {
  Invitation own{SHARP_COLL_SUCCESS, new_group(), settings_.faults.lock ? 1U : 0U};
  {
    const auto lock = guard();
    communicator.reset();
    progress();
  }
  reach_lost_trees();
  {
    const auto lock = guard();
    own.error = refusal_of_one_more();
  }
  const Invitation agreed = members.agree(own, Invitation::of_all);
  if (agreed.error != SHARP_COLL_SUCCESS) return agreed.error;
  {
    const auto lock = guard();
    Tree& tree = *trees_[agreed.group % trees_.size()];
    communicator = std::make_unique<Communicator>(
        *this, tree, terms_, Communicator::Place{agreed.group, members.rank(), members.size()});
    if (agreed.refuses_locks != 0) communicator->refuse_locks();
    communicator->join(job_);
  }
  const double began = monotonic_seconds();
  const std::optional<int> joined = answer([&] { return communicator->verdict_on_joining(); });
  const int error = members.worst_of_all(joined.value_or(SHARP_COLL_EGROUP_JOIN));
  if (is_in_vain(error)) {
    const auto lock = guard();
    rest_after(monotonic_seconds() - began);
  }
  if (error != SHARP_COLL_SUCCESS || terms_.streams == 0 || terms_.locks_at_once == 0) return error;
  {
    const auto lock = guard();
    communicator->ask_for_lock();
  }
  const std::optional<int> locked = answer([&] { return communicator->verdict_on_lock(); });
  return members.worst_of_all(locked.value_or(SHARP_COLL_ELOCK_FAILED));
}

}  // namespace hocket::sharp
