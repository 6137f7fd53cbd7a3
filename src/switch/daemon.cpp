#include "switch/daemon.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "switch/stats_page.hpp"

namespace hocket::aggregation {

namespace {

/// Deadlines are as exact as this.
constexpr int look_ms = 50;
/// For members to hear that the switch ends.
constexpr double farewell_seconds = 0.5;

std::string name_of_member(const wire::Hello& hello, const Descriptor& connection) {
  const std::string address = name_of(peer_address(connection));
  if (hello.is_switch != 0) return "the switch at " + address;
  return "rank " + std::to_string(hello.rank) + " at " + address + " (job " + std::to_string(hello.job) + ")";
}

wire::Welcome welcome_of(const Limits& limits, wire::Error error) {
  return {error,
          limits.groups,
          limits.operations,
          limits.operations_per_group,
          limits.payload,
          limits.can_stream ? 1U : 0U,
          limits.window};
}

}  // namespace

Daemon::Bell::Bell(Loop& loop) : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  loop.watch(event_, *this, EPOLLIN);
}

void Daemon::Bell::ring() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event_.number(), &one, sizeof one);
}

Daemon::Daemon(const Settings& settings)
    : settings_(settings),
      site_(settings.limits, settings.parent.has_value()),
      entrance_(
          loop_, settings.listen, key(), site_.statistics,
          [this](Descriptor connection, const wire::Hello& hello) { admit(std::move(connection), hello); }) {
  demand_loopback(own_address(entrance_.listener()));
  if (settings_.parent) open_uplink(*settings_.parent);
  if (settings_.stats)
    stats_.emplace(loop_, *settings_.stats,
                   [this](std::string_view request) { return answer_to(request, statistics()); });
}

tcp::Key Daemon::key() const {
  return settings_.key_file.empty() ? wire::no_key() : tcp::key_in(settings_.key_file);
}

void Daemon::demand_loopback(const Address& address) const {
  if (settings_.key_file.empty() && !is_loopback(address))
    throw Error(name_of(address) + " is not of this machine alone: --key FILE is needed");
}

void Daemon::open_uplink(const tcp::Place& parent) {
  std::vector<Address> addresses = addresses_of(parent);
  for (const Address& one : addresses) demand_loopback(one);
  const std::string address = name_of(addresses.front());
  uplink_.emplace(loop_, std::move(addresses), key(), site_.limits,
                  [this, address](Descriptor connection) { reach_parent(std::move(connection), address); });
}

std::string Daemon::stats_name() const {
  return stats_ ? name_of(own_address(stats_->listener())) : "";
}

const Statistics& Daemon::statistics() {
  site_.statistics.children = children_.size();
  site_.statistics.jobs = site_.jobs.count();
  site_.statistics.groups = groups_.count();
  return site_.statistics;
}

void Daemon::say(const std::string& words) const {
  if (settings_.verbose) std::fprintf(stderr, "hocket-switch: %s\n", words.c_str());
}

wire::Error Daemon::reserve(const wire::Hello& hello) {
  if (hello.version != wire::version) return wire::Error::not_supported;
  if (children_.size() >= site_.limits.children) return wire::Error::no_resource;
  if (hello.is_switch == 0 && !site_.jobs.admit(hello.job)) return wire::Error::job_refused;
  return wire::Error::none;
}

void Daemon::admit(Descriptor connection, const wire::Hello& hello) {
  const std::string name = name_of_member(hello, connection);
  const wire::Error error = reserve(hello);
  const wire::Welcome welcome = welcome_of(site_.limits, error);
  send_at_once(connection, &welcome, sizeof welcome);  // a broken connection shows soon enough
  say(name + (error == wire::Error::none ? " has come" : " is refused"));
  if (error != wire::Error::none) {
    ++site_.statistics.not_admitted;
    return;
  }
  children_.push_back(std::make_unique<Neighbour>(
      loop_, std::move(connection), hello, name, wire::Direction::up, site_.limits, site_.statistics.below,
      [this](Neighbour& from, const wire::Piece& piece) { groups_.hear_from_below(from, piece); }));
}

void Daemon::reach_parent(Descriptor connection, const std::string& address) {
  parent_ = std::make_unique<Neighbour>(
      loop_, std::move(connection), wire::Hello{.is_switch = 1}, "the switch above at " + address,
      wire::Direction::down, site_.limits, site_.statistics.above,
      [this](Neighbour&, const wire::Piece& piece) { groups_.hear_from_above(piece); });
  say(parent_->name() + " is reached");
  why_alone_.clear();
  groups_.set_parent(parent_.get());
}

void Daemon::lose_parent(const Neighbour::End& end) {
  const std::string words = "lost " + parent_->name();
  say(words + ": " + end.why);
  if (end.is_malformed) ++site_.statistics.malformed;
  groups_.set_parent(nullptr, words);
  parent_.reset();
}

void Daemon::see_off(Neighbour& child, const Neighbour::End& end) {
  say(child.name() + ": " + end.why);
  ++(end.is_malformed ? site_.statistics.malformed : site_.statistics.lost);
  groups_.lose(child, "lost " + child.name());
  if (!child.is_switch()) site_.jobs.see_off(child.job());
  child.say_farewell(end.why);
}

/// True: there were some, and others may have to be told.
bool Daemon::see_off_those_who_have_ended() {
  const Neighbour::End* const end_above = parent_ ? parent_->end() : nullptr;
  if (end_above) lose_parent(*end_above);
  for (const auto& child : children_)
    if (const Neighbour::End* const end = child->end()) see_off(*child, *end);
  return children_.remove_if([](const auto& child) { return child->end() != nullptr; }) > 0 || end_above;
}

void Daemon::flush() {
  for (const auto& child : children_) child->flush();
  if (parent_) parent_->flush();
}

/// Sending may show that somebody has gone, of which others have to be told.
void Daemon::settle() {
  do flush();
  while (see_off_those_who_have_ended());
  groups_.sweep();
  entrance_.sweep();
  if (stats_) stats_->sweep();
}

void Daemon::look_at_clocks() {
  const std::uint64_t now = monotonic_ns();
  if (now - looked_ns_ < std::uint64_t{look_ms} * 1'000'000) return;
  looked_ns_ = now;
  groups_.look_at_clock();
  if (uplink_ && !parent_) look_for_parent(*uplink_);
}

/// Told once: limits or keys that differ are for people to mend.
void Daemon::look_for_parent(Uplink& uplink) {
  uplink.look_at_clock();
  if (uplink.why_not() == why_alone_) return;
  why_alone_ = uplink.why_not();
  std::fprintf(stderr, "hocket-switch: the parent at %s: %s\n", uplink.name().c_str(), why_alone_.c_str());
}

void Daemon::turn() {
  const std::uint64_t began = monotonic_ns();
  const std::uint64_t waited = loop_.turn(settings_.busy_poll ? 0 : look_ms);
  look_at_clocks();
  settle();
  site_.statistics.busy_ns += monotonic_ns() - began - waited;
}

void Daemon::run() {
  look_at_clocks();  // the parent is looked for at once
  while (!bell_.has_rung()) turn();
  say_farewell();
}

void Daemon::stop() const noexcept {
  bell_.ring();
}

void Daemon::say_farewell() {
  constexpr std::string_view words = "the switch ends";
  const Deadline end(farewell_seconds);
  for (const auto& child : children_) child->say_farewell(words);
  if (parent_) parent_->say_farewell(words);
  for (const auto& child : children_) tcp::end_sending(child->connection(), end);
}

}  // namespace hocket::aggregation
