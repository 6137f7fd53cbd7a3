// What a process tells its peers so that they can try to read its memory: 64 bytes in shared memory, and the
// test that reads a random number from where the card says it is. The only test that counts is the read
// itself: seccomp, Yama, user namespaces, containers and other users each forbid it in their own way.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/cma/calibration.hpp"

namespace hocket::transports::cma {

using Cookie = std::array<std::byte, 16>;

struct Card {
  std::uint64_t cookie_address = 0;  ///< 0: nothing written yet. Set last.
  std::uint64_t pid_namespace = 0;
  Cookie cookie{};
  std::int32_t pid = 0;
  std::uint32_t gain = 0;  ///< a Gain
};

using CardMemory = std::span<std::byte, 64>;

/// Writes this process's card, once, and lets peers read its memory as far as that is its own to allow
/// (Yama).
void publish_card(CardMemory memory) noexcept;

bool is_published(CardMemory memory) noexcept;

/// Reads the cookie that the card tells of. 0, or the errno of the failure; EXDEV: its process number means
/// nothing here (another PID namespace); ENOMSG: no card, or other bytes than the cookie's.
int test_card(CardMemory memory) noexcept;

pid_t pid_of(CardMemory memory) noexcept;

/// What a calibration of this process found, for its other communicators and for its peers.
Gain noted_gain(CardMemory memory) noexcept;
void note_gain(CardMemory memory, Gain gain) noexcept;
/// What any of these has noted, or a calibration now; `own` notes it. Throws std::bad_alloc.
Gain node_gain(std::span<const CardMemory> cards, CardMemory own);

}  // namespace hocket::transports::cma
