#include "worker/daemon.hpp"

#include <memory>

#include "base/clock.hpp"
#include "worker/local_process.hpp"

namespace hocket::worker {

namespace {

ServedRanks::Terms terms_of(const Employment& employment) {
  return {employment.desks, employment.stall_seconds, employment.idle_bytes};
}

}  // namespace

Daemon::Daemon(const Employment& employment) : reception_(employment), ranks_(*this, terms_of(employment)) {
  reception_.open(ranks_.address(), ranks_.why_alone());
}

void Daemon::look_around() {
  const std::uint64_t now = monotonic_ns();
  if (!glances_.are_due(now)) return;
  for (const Reception::Guest& guest : reception_.newcomers()) {
    engine::handover::Desk& desk = reception_.desk(guest.desk);
    ranks_.add(guest.desk, guest.rank, std::make_unique<LocalProcess>(desk, guest.process), desk.commands);
    reception_.accept(guest.desk);
  }
  see_off_the_dead();
  ranks_.look_around(now);
}

void Daemon::see_off_the_dead() {
  for (const std::uint32_t desk : ranks_.desks())
    if (!reception_.is_taken(desk) && !ranks_.is_alive(desk)) ranks_.see_off(desk);
}

bool Daemon::is_needed() {
  return !ranks_.is_empty() || reception_.is_needed() || !ranks_.have_left();
}

/// What others send ahead of a rank that has started nothing yet is taken in, too; but where nothing is
/// under way, nothing is worth being looked for.
void Daemon::rest() {
  Alarm network = ranks_.alarm();
  if (ranks_.is_idle()) network.is_deaf = false;
  reception_.rest(network);
}

void Daemon::run() {
  while (is_needed()) {
    beat();
    look_around();
    reception_.hear_doorbell();
    if (!ranks_.turn()) rest();
  }
}

}  // namespace hocket::worker
