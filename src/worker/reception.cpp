#include "worker/reception.hpp"

#include <algorithm>
#include <numeric>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/process_identity.hpp"
#include "transports/cma/card.hpp"

namespace hocket::worker {

using namespace engine::handover;

namespace {

/// A rank that has told something may tell more at once, and operations of one node take no longer than
/// waking up.
constexpr std::uint64_t attentive_ns = 50'000;
/// Who is at the door, or has died, is noticed so late.
constexpr long longest_rest_ns = 5'000'000;

}  // namespace

Reception::Reception(const Employment& employment)
    : desks_(Desks::create(employment.desks, employment.version)),
      door_(employment.entrance),
      employer_(employment.employer),
      employer_started_(start_time_of(employment.employer)),
      empty_(employment.desks) {
  std::iota(empty_.begin(), empty_.end(), 0U);
  desks_.header().cpus = employment.cpus.mask;
  desks_.header().are_given = employment.cpus.are_given ? 1 : 0;
}

void Reception::open(std::span<const std::byte> address, std::string_view why_alone) {
  DesksHeader& header = desks_.header();
  if (address.size() > header.address.size()) throw Error("the address of this worker is too long");
  std::ranges::copy(address, header.address.begin());
  header.address_bytes = static_cast<std::uint32_t>(address.size());
  header.why_alone[why_alone.copy(header.why_alone.data(), header.why_alone.size() - 1)] = '\0';
  if (!desks_.take_worker_place()) throw Error("the worker's place cannot be locked");
}

/// The card that is tested is the one that is believed.
std::vector<Reception::Guest> Reception::newcomers() {
  door_.serve(desks_);
  std::vector<Guest> come;
  std::erase_if(empty_, [&](std::uint32_t index) {
    Desk& desk = desks_.desk(index);
    if (!transports::cma::is_published(std::span(desk.card))) return false;
    had_ranks_ = true;
    alignas(64) auto card = desk.card;
    const int error = transports::cma::test_card(std::span(card));
    if (error != 0)
      refuse(index, error);
    else
      come.push_back({index, desk.rank, transports::cma::pid_of(std::span(card))});
    return true;
  });
  return come;
}

void Reception::accept(std::uint32_t index) noexcept {
  desks_.desk(index).reach.store(Reach::reached, std::memory_order_release);
}

void Reception::refuse(std::uint32_t index, int error) {
  Desk& desk = desks_.desk(index);
  desk.error = error;
  desk.reach.store(Reach::refused, std::memory_order_release);
  refused_.push_back(index);
}

bool Reception::is_needed() noexcept {
  std::erase_if(refused_, [this](std::uint32_t desk) { return !desks_.is_taken(desk); });
  if (had_ranks_) return !refused_.empty();
  return employer_started_ != 0 && start_time_of(employer_) == employer_started_;
}

void Reception::hear_doorbell() noexcept {
  const std::uint32_t told = desks_.header().told.load(std::memory_order_seq_cst);
  if (told == heard_) return;
  heard_ = told;
  told_ns_ = monotonic_ns();
}

bool Reception::is_attentive() const noexcept {
  return monotonic_ns() - told_ns_ < attentive_ns;
}

/// Without yields, which Linux 6.18 remembers: among ranks that spin on its core a worker that yielded
/// between looks has waited 25 s for its turn. Who has napped comes at once.
void Reception::rest(const Alarm& other) noexcept {
  const bool has_no_network = other.descriptor < 0 && !other.is_deaf;
  if (other.has_rung || (has_no_network && is_attentive())) return;
  const bool is_deaf = other.is_deaf || desks_.has_mute_ranks();
  const long most_ns = is_deaf ? nap_ns(monotonic_ns() - told_ns_) : longest_rest_ns;
  bool has_rung = false;
  if (desks_.fall_asleep(heard_)) has_rung = sleep_until(other, {.descriptor = desks_.alarm()}, most_ns);
  desks_.wake_up(has_rung);
}

}  // namespace hocket::worker
