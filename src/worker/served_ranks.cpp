#include "worker/served_ranks.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "engine/long_wait.hpp"
#include "engine/memory_limits.hpp"
#include "engine/silent_connections.hpp"
#include "worker/local_fabric.hpp"

namespace hocket::worker {

using engine::handover::Bytes;
using engine::handover::Connect;

namespace {

/// There are no others, or not all can be reached.
bool serves_one_node(const Connect& command) {
  return command.addresses.size() == 1 ||
         std::ranges::any_of(command.addresses, [](const Bytes& address) { return address.empty(); });
}

/// Between looks at who does not answer.
constexpr std::uint64_t listen_ns = 100'000'000;
/// For what a rank that is served no more has on its way.
constexpr double farewell_seconds = 10;

/// Of copies of what ranks may use again: a 16th of the memory for all of them.
std::size_t idle_bytes_of(std::uint32_t ranks) {
  return engine::available_memory() / (16 * std::max<std::size_t>(ranks, 1));
}

}  // namespace

ServedRanks::ServedRanks(Front& front, const Terms& terms)
    : front_(front),
      stall_seconds_(terms.stall_seconds),
      idle_bytes_(terms.idle_bytes != 0 ? terms.idle_bytes : idle_bytes_of(terms.desks)) {
  open_fabric();
}

/// Without a network it serves its own node.
void ServedRanks::open_fabric() {
  try {
    fabric_ = open_network();
  } catch (const Error& error) {
    fabric_ = std::make_unique<LocalFabric>();
    why_alone_ = error.what();
  }
}

/// Sends that were given up may have nobody who takes them, ever: nobody waits for them at the end, but their
/// memory is the network's as long as that is there.
ServedRanks::~ServedRanks() {
  if (!fabric_->still_reads()) return;
  for (Leaving& one : leaving_) {
    [[maybe_unused]] const auto* const kept = one.first.release();
  }
}

/// The one that serves who has said it: this one.
std::uint32_t ServedRanks::own_process(const Connect& command, ir::Rank from) const {
  const auto rank = static_cast<std::size_t>(from);
  if (from < 0 || rank >= command.process_of.size()) throw Error("a rank that the job does not have");
  const std::uint32_t own = command.process_of[rank];
  const auto is_own = [&](const Bytes& address) { return std::ranges::equal(address, fabric_->address()); };
  if (own >= command.addresses.size() || !is_own(command.addresses[own]))
    throw Error("a rank that says another worker serves it");
  if (!fabric_->address().empty() && std::ranges::count_if(command.addresses, is_own) != 1)
    throw Error("a worker that is two");
  return own;
}

void ServedRanks::connect(const Connect& command, ir::Rank from) {
  if (!expected_.empty()) throw Error("the workers know each other already");
  const std::uint32_t own = own_process(command, from);
  std::unique_ptr<Fabric> local = serves_one_node(command) ? std::make_unique<LocalFabric>() : nullptr;
  (local ? *local : *fabric_).connect(command.addresses, command.process_of);
  if (local) fabric_ = std::move(local);
  if (!command.hosts.empty())
    for (const std::uint32_t process : command.process_of) host_of_.push_back(command.hosts[process]);
  for (const std::uint32_t process : command.process_of) expected_.push_back(process == own);
  front_.connected();
}

/// Of a rank that has none yet: what comes for it is for one alone.
std::unique_ptr<transports::mpi::Port> ServedRanks::port_of(ir::Rank rank) {
  if (expected_.empty()) return nullptr;
  if (rank < 0 || static_cast<std::size_t>(rank) >= expected_.size())
    throw Error("a rank that the job does not have");
  if (!expected_[static_cast<std::size_t>(rank)])
    throw Error("a rank that another process is, or that is served elsewhere");
  auto port = fabric_->port(rank, static_cast<ir::Rank>(expected_.size()));
  expected_[static_cast<std::size_t>(rank)] = false;
  return port;
}

void ServedRanks::add(std::uint32_t desk, ir::Rank rank, std::unique_ptr<RankProcess> process,
                      engine::handover::StreamMemory& commands) {
  Served::Office& office = *this;
  served_[desk] = std::make_unique<Served>(office, rank, std::move(process), commands, idle_bytes_);
}

void ServedRanks::see_off(std::uint32_t desk) {
  const auto one = served_.find(desk);
  if (one == served_.end()) return;
  one->second->mourn();
  leaving_.emplace_back(std::move(one->second), Deadline(farewell_seconds));
  served_.erase(one);
}

std::vector<std::uint32_t> ServedRanks::desks() const {
  std::vector<std::uint32_t> all;
  for (const auto& [desk, served] : served_) all.push_back(desk);
  return all;
}

/// What a rank says that no rank says ends its being served, and nobody else's.
bool ServedRanks::turn() {
  const std::uint64_t before = fabric_->moved();
  bool moved = false;
  std::vector<std::uint32_t> lost;
  for (const auto& [desk, served] : served_) try {
      moved = served->turn() || moved;
    } catch (const std::exception&) {
      lost.push_back(desk);
    }
  for (const std::uint32_t desk : lost) {
    see_off(desk);
    front_.given_up(desk);
  }
  return moved || !lost.empty() || fabric_->moved() != before;
}

void ServedRanks::look_around(std::uint64_t now_ns) {
  std::erase_if(leaving_, [](const Leaving& one) { return has_left(one) && !one.first->still_sends(); });
  if (stall_seconds_ <= 0 || now_ns - listened_ns_ <= listen_ns) return;
  listened_ns_ = now_ns;
  for (const auto& [desk, served] : served_)
    served->look_for_silence(now_ns, static_cast<std::uint64_t>(stall_seconds_ * 1e9));
}

/// Who does not answer may have no core. Lost is who is on a machine that does not even acknowledge what it
/// is sent, as the kernel knows.
void ServedRanks::suspect(ir::Rank rank) noexcept try {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= host_of_.size() || fabric_->has_lost(rank)) return;
  const auto silent = engine::silent_addresses(engine::LongWait::proof_seconds(stall_seconds_));
  if (std::ranges::any_of(silent, [&](const auto& one) { return engine::holds(host_of_[index], one); }))
    fabric_->lose(rank);
} catch (...) {
  return;  // no memory: at the next look
}

Alarm ServedRanks::alarm() noexcept {
  const bool any = std::ranges::any_of(served_, [](const auto& one) { return one.second->listens(); });
  return any ? fabric_->alarm() : Alarm{};
}

bool ServedRanks::is_idle() const noexcept {
  return std::ranges::all_of(served_, [](const auto& one) { return one.second->is_idle(); });
}

bool ServedRanks::has_left(const Leaving& one) noexcept {
  return one.first->has_left() || one.second.passed();
}

bool ServedRanks::have_left() const noexcept {
  return std::ranges::all_of(leaving_, has_left);
}

}  // namespace hocket::worker
