#include "engine/aggregation/leader_group.hpp"

#include <algorithm>

#include "engine/aggregation/message_band.hpp"
#include "engine/aggregation/service.hpp"

namespace hocket::engine::aggregation {

namespace {

constexpr std::uint32_t longest_pause = 1024;
/// Groups that a member releases before it does without.
constexpr int most_tries = 4;

/// Who waits for a member waits for a rank of the communicator.
class NamedWatch final : public transports::Watch {
 public:
  NamedWatch(const LeaderGroup& group, transports::Watch& whole) : group_(group), whole_(whole) {}
  Status look(Rank peer, std::uint64_t waited_ns) noexcept override {
    return whole_.look(peer == transports::nobody ? peer : group_.name_of(peer), waited_ns);
  }

 private:
  const LeaderGroup& group_;
  transports::Watch& whole_;
};

}  // namespace

LeaderGroup::LeaderGroup(Service& service, transports::mpi::Network& network, LeaderNames leaders)
    : service_(service),
      names_(std::move(leaders.names)),
      members_(network, leaders.id, std::move(leaders.world), leaders.own) {}

LeaderGroup::~LeaderGroup() {
  service_.room().forget(*this);
}

Rank LeaderGroup::index_of(Rank name) const noexcept {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? -1 : static_cast<Rank>(found - names_.begin());
}

Rank LeaderGroup::name_of(Rank member) const noexcept {
  return names_[static_cast<std::size_t>(member)];
}

void LeaderGroup::enter(const transports::mpi::CallWords& call, const transports::Waiting& waiting) noexcept {
  members_.begin(++calls_, call);
  service_.room().use(*this);
  if (agreed_ || calls_ != next_try_) return;
  try {
    make(waiting);
  } catch (...) {  // without memory there is no group here, which the others will hear
    lose("no memory");
  }
}

void LeaderGroup::make(const transports::Waiting& waiting) {
  transports::Waiting named = waiting;
  std::optional<NamedWatch> watch;
  if (waiting.watch) named.watch = &watch.emplace(*this, *waiting.watch);
  MessageBand band(members_, named);
  for (int tries = 0; tries < most_tries; ++tries) {
    offload::GroupOrReason made = service_.tree().make_group({members_.rank(), members_.ranks()}, band);
    if (made.group) {
      group_ = std::move(made.group);
      agreed_ = true;
      made_at_ = calls_;
      service_.report().count_group();
      return;
    }
    service_.note("no group in the network: " + made.words);
    if (!made.is_shortage) break;
    service_.room().release_oldest();
  }
  put_off();
}

void LeaderGroup::put_off() noexcept {
  pause_ = std::min(2 * pause_, longest_pause);
  next_try_ = calls_ + pause_;
}

void LeaderGroup::lose(const std::string& why) noexcept {
  group_.reset();
  service_.note("the network has failed a group: " + why);
}

void LeaderGroup::leave(bool lost) noexcept {
  service_.report().count_aggregated(lost);
  if (lost && agreed_) {
    agreed_ = false;
    if (calls_ - made_at_ > pause_) pause_ = shortest_pause;  // it was of use: the next may be, too
    group_.reset();
    put_off();
  }
  service_.room().done_with(*this);
}

}  // namespace hocket::engine::aggregation
