#include "transports/cma/card.hpp"

#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/process_identity.hpp"
#include "transports/cma/process_memory.hpp"

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

namespace hocket::transports::cma {
namespace {

static_assert(sizeof(Card) <= 64 && alignof(Card) <= 64);

Card& card_in(CardMemory memory) {
  return *reinterpret_cast<Card*>(memory.data());
}

Cookie make_cookie() {
  Cookie cookie{};
  if (getrandom(cookie.data(), cookie.size(), GRND_NONBLOCK) == static_cast<ssize_t>(cookie.size()))
    return cookie;
  const pid_t pid = getpid();  // as good against a mistaken process number, which is what it guards against
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::memcpy(cookie.data(), &pid, sizeof pid);
  std::memcpy(cookie.data() + 8, &now.tv_nsec, sizeof now.tv_nsec);
  return cookie;
}

/// In private memory, where peers look for it.
const Cookie& own_cookie() {
  static const Cookie cookie = make_cookie();
  return cookie;
}

}  // namespace

void publish_card(CardMemory memory) noexcept {
  static std::mutex threads;
  const std::scoped_lock lock(threads);
  Card& card = card_in(memory);
  std::atomic_ref<std::uint64_t> address(card.cookie_address);
  if (address.load(std::memory_order_relaxed) != 0) return;
  // Yama's scope 1 allows only ancestors, unless the process to be read says otherwise. Without Yama: EINVAL.
  prctl(PR_SET_PTRACER, -1L, 0L, 0L, 0L);
  card.pid = getpid();
  card.pid_namespace = pid_namespace();
  card.cookie = own_cookie();
  address.store(reinterpret_cast<std::uintptr_t>(own_cookie().data()), std::memory_order_release);
}

bool is_published(CardMemory memory) noexcept {
  return std::atomic_ref(card_in(memory).cookie_address).load(std::memory_order_acquire) != 0;
}

int test_card(CardMemory memory) noexcept {
  Card& card = card_in(memory);
  const std::uint64_t address = std::atomic_ref(card.cookie_address).load(std::memory_order_acquire);
  if (address == 0) return ENOMSG;
  if (card.pid_namespace != pid_namespace()) return EXDEV;
  Cookie seen{};
  if (const int error = read_process_memory(card.pid, address, {seen.data(), seen.size()}); error != 0)
    return error;
  return seen == card.cookie ? 0 : ENOMSG;
}

pid_t pid_of(CardMemory memory) noexcept {
  return card_in(memory).pid;
}

Gain noted_gain(CardMemory memory) noexcept {
  return static_cast<Gain>(std::atomic_ref(card_in(memory).gain).load(std::memory_order_relaxed));
}

void note_gain(CardMemory memory, Gain gain) noexcept {
  std::atomic_ref(card_in(memory).gain).store(static_cast<std::uint32_t>(gain), std::memory_order_relaxed);
}

Gain node_gain(std::span<const CardMemory> cards, CardMemory own) {
  Gain gain = Gain::unknown;
  for (const CardMemory card : cards)
    if (gain == Gain::unknown) gain = noted_gain(card);
  if (gain == Gain::unknown) gain = calibrate().gain();
  note_gain(own, gain);
  return gain;
}

}  // namespace hocket::transports::cma
