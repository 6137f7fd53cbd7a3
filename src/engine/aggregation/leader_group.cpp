#include "engine/aggregation/leader_group.hpp"

#include <algorithm>

#include "engine/aggregation/service.hpp"

namespace hocket::engine::aggregation {

namespace {

/// What is passed on has numbers of its own among the messages of an operation.
transports::mpi::CommunicatorId relay_id(transports::mpi::CommunicatorId id) {
  return {~id.origin, id.members};
}

}  // namespace

LeaderGroup::LeaderGroup(std::shared_ptr<Service> service, transports::mpi::Network& network,
                         LeaderNames leaders)
    : service_(std::move(service)),
      names_(std::move(leaders.names)),
      members_(network, leaders.id, std::move(leaders.world), leaders.own),
      relay_(network, relay_id(leaders.id), members_.world(), leaders.own) {}

LeaderGroup::~LeaderGroup() {
  service_->room().forget(*this);
}

Rank LeaderGroup::index_of(Rank name) const noexcept {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? -1 : static_cast<Rank>(found - names_.begin());
}

Rank LeaderGroup::name_of(Rank member) const noexcept {
  return names_[static_cast<std::size_t>(member)];
}

void LeaderGroup::enter(const transports::mpi::CallWords& call) noexcept {
  members_.begin(over_ + 1, call);
  service_->room().use(*this);
  tries_ = 0;
}

Status LeaderGroup::join() noexcept {
  while (is_time_to_join()) {
    const offload::Member self{members_.rank(), members_.ranks()};
    Joining& joining = joining_ ? *joining_ : joining_.emplace(service_->tree(), self);
    if (const Status status = joining.advance(members_); status != Status::ok) return status;
    if (!try_again(joining.made())) break;
  }
  return Status::ok;
}

/// What has come of it is the same on all members. False: it is enough.
bool LeaderGroup::try_again(offload::GroupOrReason& of_thread) noexcept {
  offload::GroupOrReason made = std::move(of_thread);
  joining_.reset();
  if (made.group) {
    group_ = std::move(made.group);
    agreed_ = true;
    made_in_ = over_ + 1;
    service_->report().count_group();
    return false;
  }
  service_->note("no group in the network: ", made.words);
  if (made.is_shortage && ++tries_ < most_tries) {
    service_->room().release_oldest();
    return true;
  }
  put_off();
  return false;
}

/// What has been lost once may be lost again: the longer, the rarer it is tried.
void LeaderGroup::put_off() noexcept {
  pause_ = std::min(2 * pause_, longest_pause);
  next_try_ = over_ + 1 + pause_;
}

void LeaderGroup::lose(const std::string& why) noexcept {
  group_.reset();
  service_->note("the network has failed a group: ", why);
}

void LeaderGroup::leave(bool lost, bool repaired) noexcept {
  service_->report().count_aggregated(repaired);
  joining_.reset();
  if (lost && agreed_) {
    agreed_ = false;
    if (over_ + 1 - made_in_ > pause_) pause_ = shortest_pause;  // it was of use: the next may be, too
    group_.reset();
    put_off();
  }
  ++over_;
  service_->room().done_with(*this);
}

}  // namespace hocket::engine::aggregation
