#include "worker/daemon.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <span>
#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/long_wait.hpp"
#include "engine/memory_limits.hpp"
#include "engine/process_identity.hpp"
#include "engine/silent_connections.hpp"
#include "transports/cma/card.hpp"
#include "transports/waiting.hpp"
#include "worker/local_fabric.hpp"

namespace hocket::worker {

using namespace engine::handover;

namespace {

/// There are no others, or not all can be reached.
bool serves_one_node(const Connect& command) {
  return command.addresses.size() == 1 ||
         std::ranges::any_of(command.addresses, [](const Bytes& address) { return address.empty(); });
}

/// Between looks at the door and at who has died.
constexpr std::uint64_t look_ns = 2'000'000;
/// Between looks at who does not answer.
constexpr std::uint64_t listen_ns = 100'000'000;
/// For what a rank that is served no more has on its way.
constexpr double farewell_seconds = 10;

/// Of copies of what ranks may use again: a 16th of the memory for all of them.
std::size_t idle_bytes_of(std::uint32_t ranks) {
  return engine::available_memory() / (16 * std::max<std::size_t>(ranks, 1));
}

}  // namespace

Daemon::Daemon(const Employment& employment)
    : desks_(Desks::create(employment.desks, employment.version)),
      door_(employment.entrance),
      employer_(employment.employer),
      employer_started_(engine::start_time_of(employment.employer)),
      stall_seconds_(employment.stall_seconds),
      idle_bytes_(employment.idle_bytes != 0 ? employment.idle_bytes : idle_bytes_of(employment.desks)),
      empty_(employment.desks) {
  std::iota(empty_.begin(), empty_.end(), 0U);
  open_fabric();
  if (!desks_.take_worker_place()) throw Error("the worker's place cannot be locked");
}

/// Without a network it serves its own node.
void Daemon::open_fabric() {
  DesksHeader& header = desks_.header();
  try {
    fabric_ = open_network();
  } catch (const Error& error) {
    fabric_ = std::make_unique<LocalFabric>();
    const std::string_view why = error.what();
    header.why_alone[why.copy(header.why_alone.data(), header.why_alone.size() - 1)] = '\0';
  }
  const std::span<const std::byte> address = fabric_->address();
  if (address.size() > header.address.size()) throw Error("the address of this worker is too long");
  std::ranges::copy(address, header.address.begin());
  header.address_bytes = static_cast<std::uint32_t>(address.size());
}

/// The one that serves who has said it: this one.
std::uint32_t Daemon::own_process(const Connect& command, ir::Rank from) const {
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

void Daemon::connect(const Connect& command, ir::Rank from) {
  if (!expected_.empty()) throw Error("the workers know each other already");
  const std::uint32_t own = own_process(command, from);
  std::unique_ptr<Fabric> local = serves_one_node(command) ? std::make_unique<LocalFabric>() : nullptr;
  (local ? *local : *fabric_).connect(command.addresses, command.process_of);
  if (local) fabric_ = std::move(local);
  if (!command.hosts.empty())
    for (const std::uint32_t process : command.process_of) host_of_.push_back(command.hosts[process]);
  for (const std::uint32_t process : command.process_of) expected_.push_back(process == own);
  desks_.header().connected.store(1, std::memory_order_release);
}

/// Of a rank that has none yet: what comes for it is for one alone.
std::unique_ptr<transports::mpi::Port> Daemon::port_of(ir::Rank rank) {
  if (expected_.empty()) return nullptr;
  if (rank < 0 || static_cast<std::size_t>(rank) >= expected_.size())
    throw Error("a rank that the job does not have");
  if (!expected_[static_cast<std::size_t>(rank)])
    throw Error("a rank that another process is, or that is served elsewhere");
  auto port = fabric_->port(rank, static_cast<ir::Rank>(expected_.size()));
  expected_[static_cast<std::size_t>(rank)] = false;
  return port;
}

/// Who cannot be reached is told why. The card that is tested is the one that is believed.
void Daemon::welcome(std::uint32_t index) {
  Desk& desk = desks_.desk(index);
  alignas(64) auto card = desk.card;
  const int error = transports::cma::test_card(std::span(card));
  if (error != 0) return give_up(index, error);
  Served::Office& office = *this;
  served_[index] =
      std::make_unique<Served>(office, desk, transports::cma::pid_of(std::span(card)), idle_bytes_);
  had_ranks_ = true;
  desk.reach.store(Reach::reached, std::memory_order_release);
}

void Daemon::give_up(std::uint32_t index, int error) {
  Desk& desk = desks_.desk(index);
  desk.error = error;
  desk.reach.store(Reach::refused, std::memory_order_release);
  if (const auto one = served_.find(index); one != served_.end()) {
    one->second->mourn();  // for the others it is as good as dead
    leaving_.emplace_back(std::move(one->second), Deadline(farewell_seconds));
    served_.erase(one);
  }
  given_up_.push_back(index);
  had_ranks_ = true;
}

void Daemon::see_off_the_dead() {
  for (auto one = served_.begin(); one != served_.end();) {
    if (desks_.is_taken(one->first) || one->second->is_alive()) {
      ++one;
      continue;
    }
    one->second->mourn();
    leaving_.emplace_back(std::move(one->second), Deadline(farewell_seconds));
    one = served_.erase(one);
  }
  std::erase_if(given_up_, [this](std::uint32_t desk) { return !desks_.is_taken(desk); });
  std::erase_if(leaving_, [](const Leaving& one) { return has_left(one) && !one.first->still_sends(); });
}

bool Daemon::has_left(const Leaving& one) noexcept {
  return one.first->has_left() || one.second.passed();
}

/// Sends that were given up may have nobody who takes them, ever: nobody waits for them at the end, but their
/// memory is the network's as long as that is there.
Daemon::~Daemon() {
  if (!fabric_->still_reads()) return;
  for (Leaving& one : leaving_) {
    [[maybe_unused]] const auto* const kept = one.first.release();
  }
}

void Daemon::look_around() {
  const std::uint64_t now = monotonic_ns();
  if (now - looked_ns_ < look_ns) return;
  looked_ns_ = now;
  door_.serve(desks_.file());
  std::erase_if(empty_, [this](std::uint32_t desk) {
    if (!transports::cma::is_published(std::span(desks_.desk(desk).card))) return false;
    welcome(desk);
    return true;
  });
  see_off_the_dead();
  if (stall_seconds_ > 0 && now - listened_ns_ > listen_ns) look_for_silence(now);
}

void Daemon::look_for_silence(std::uint64_t now_ns) noexcept {
  listened_ns_ = now_ns;
  for (const auto& [desk, served] : served_)
    served->look_for_silence(now_ns, static_cast<std::uint64_t>(stall_seconds_ * 1e9));
}

/// Who does not answer may have no core. Lost is who is on a machine that does not even acknowledge what it
/// is sent, as the kernel knows.
void Daemon::suspect(ir::Rank rank) noexcept try {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= host_of_.size() || fabric_->has_lost(rank)) return;
  const auto silent = engine::silent_addresses(engine::LongWait::proof_seconds(stall_seconds_));
  if (std::ranges::any_of(silent, [&](const auto& one) { return engine::holds(host_of_[index], one); }))
    fabric_->lose(rank);
} catch (...) {
  return;  // no memory: at the next look
}

/// What a rank says that no rank says ends its being served, and nobody else's.
bool Daemon::turn() {
  const std::uint64_t before = fabric_->moved();
  bool moved = false;
  std::vector<std::uint32_t> lost;
  for (const auto& [desk, served] : served_) try {
      moved = served->turn() || moved;
    } catch (const std::exception&) {
      lost.push_back(desk);
    }
  for (const std::uint32_t desk : lost) give_up(desk, 0);
  return moved || fabric_->moved() != before;
}

bool Daemon::is_needed() const {
  if (had_ranks_) return !served_.empty() || !given_up_.empty() || !std::ranges::all_of(leaving_, has_left);
  return employer_started_ != 0 && engine::start_time_of(employer_) == employer_started_;
}

bool Daemon::is_idle() const {
  return std::ranges::all_of(served_, [](const auto& one) { return one.second->is_idle(); });
}

/// Longer, the longer ago a rank has told something: a rest that is a small part of what an operation has
/// taken already is not felt in it, and leaves the core to the rank that may share it. Ranks that tell
/// something end it; the network can only be asked again. Without yields, which Linux 6.18 remembers: among
/// ranks that spin on its core a worker that yielded between looks has waited 25 s for its turn. Who has
/// napped comes at once.
void Daemon::rest() {
  constexpr std::uint64_t spin_ns = 50'000, part = 64, shortest_ns = 20'000;
  constexpr std::uint64_t longest_ns = 500'000, longest_idle_ns = 5'000'000;
  DesksHeader& header = desks_.header();
  const std::uint64_t since_ns = monotonic_ns() - told_ns_;
  if (since_ns < spin_ns) return;
  const std::uint64_t most = is_idle() ? longest_idle_ns : longest_ns;
  transports::sleep_among(header.asleep, &header.doorbell, rings_,
                          static_cast<long>(std::clamp(since_ns / part, shortest_ns, most)));
}

/// Before the commands are read: what is told meanwhile is not slept over.
void Daemon::hear_doorbell() {
  const std::uint32_t rings = desks_.header().doorbell.load(std::memory_order_seq_cst);
  if (rings == rings_) return;
  rings_ = rings;
  told_ns_ = monotonic_ns();
}

void Daemon::run() {
  while (is_needed()) {
    beat();
    look_around();
    hear_doorbell();
    if (!turn()) rest();
  }
}

}  // namespace hocket::worker
