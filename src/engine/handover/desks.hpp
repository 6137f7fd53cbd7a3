// The memory that a node's worker shares with the ranks that it serves: a desk for each, with a stream of
// commands and a word for each operation that is under way.
//
// A memfd, handed over by the worker's door (door.hpp). It is the worker's: ranks come and go.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "engine/cores.hpp"
#include "engine/handover/doorbell.hpp"
#include "engine/handover/stream.hpp"

namespace hocket::engine::handover {

inline constexpr std::uint64_t desks_magic = 0x316b736564;  // "desk1"
inline constexpr std::uint32_t desks_layout = 9;
inline constexpr std::size_t desks_page = 4096;
inline constexpr std::uint32_t most_desks = 4096;
inline constexpr std::uint32_t most_under_way = 1024;  ///< of one rank with words at its desk (word.hpp)

/// What has become of an operation: 0: under way; else 1 + its Status. The rank sets it to 0.
using Completion = std::atomic<std::uint32_t>;

constexpr std::uint32_t completion_of(Status status) noexcept {
  return 1 + static_cast<std::uint32_t>(status);
}
constexpr Status status_of(std::uint32_t completion) noexcept {
  return completion == 0 ? Status::pending : static_cast<Status>(completion - 1);
}

/// Whether the worker can read and write a rank's memory: the worker's answer to its card.
enum class Reach : std::uint32_t { unknown, reached, refused };

struct alignas(desks_page) Desk {
  /// Where the rank's random number is, for the worker to find (transports/cma/card.hpp).
  alignas(64) std::array<std::byte, 64> card;
  std::int32_t rank;                    ///< in the world; written before the card
  std::atomic<Reach> reach;             ///< `error` is written before
  std::int32_t error;                   ///< errno of the refusal
  std::atomic<std::uint32_t> sleepers;  ///< threads of the rank that sleep on a completion
  std::atomic<std::uint64_t>
      mapped;                   ///< calls that were defined with buffers that the worker maps, all of them
  std::array<char, 512> words;  ///< why an operation has failed; written before its completion
  alignas(64) std::array<Completion, most_under_way> completions;
  StreamMemory commands;
};

struct alignas(desks_page) DesksHeader {
  static constexpr std::size_t longest_address = 2048;
  static constexpr std::size_t longest_reason = 256;
  static constexpr std::size_t longest_version = 128;

  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t desks;
  std::int32_t pid;
  alignas(64) std::atomic<std::uint32_t> told;   ///< rises with each command
  std::atomic<std::uint32_t> asleep;             ///< 1: the worker has to be woken
  std::atomic<std::uint32_t> mute;               ///< 1: some rank cannot wake it
  alignas(64) std::atomic<std::uint64_t> pulse;  ///< rises as long as the worker is well
  std::atomic<std::uint32_t> connected;          ///< 1: it knows the workers of all nodes
  std::uint32_t address_bytes;  ///< how other workers reach this one, in their network's words; 0: not at all
  std::array<std::byte, longest_address> address;
  std::array<char, longest_reason> why_alone;  ///< why they do not; ends with a zero
  std::array<char, longest_version> version;   ///< ends with a zero
  CpuMask cpus;                                ///< on which it may run; none: it runs elsewhere
  std::uint32_t are_given;                     ///< 1: by the user
};

/// Who shares desks has the same.
std::string build_version();

/// What a rank is let in with.
struct DeskFiles {
  Descriptor desks, bell;
};

class Desks {
 public:
  Desks() = default;
  Desks(Desks&& other) noexcept { *this = static_cast<Desks&&>(other); }
  Desks& operator=(Desks&& other) noexcept;
  ~Desks();

  /// The worker: new ones, all zero, of this many. Throws Error.
  static Desks create(std::uint32_t desks, const std::string& version);
  /// A rank: those of the file that the door has handed over. Throws Error for what is none of this
  /// version's.
  static Desks attach(DeskFiles files, const std::string& version);

  explicit operator bool() const noexcept { return base_ != nullptr; }
  int file() const noexcept { return file_.number(); }
  int bell() const noexcept { return bell_.outside(); }  ///< what is handed over of it
  DesksHeader& header() const noexcept { return *reinterpret_cast<DesksHeader*>(base_); }
  std::uint32_t count() const noexcept { return count_; }
  Desk& desk(std::uint32_t index) const noexcept {
    return *reinterpret_cast<Desk*>(base_ + sizeof(DesksHeader) + index * sizeof(Desk));
  }

  /// A rank: it has told something.
  void ring() const noexcept;
  /// The worker: from now on who tells something rings, until it wakes up. False: something was told since
  /// the count was `heard`.
  bool fall_asleep(std::uint32_t heard) const noexcept;
  void wake_up(bool has_rung) noexcept;
  int alarm() const noexcept { return bell_.inside(); }  ///< -1: it has been shut
  /// Some rank does not ring, or nobody does: what they tell has to be looked for.
  bool has_mute_ranks() const noexcept;

  // Whoever holds a place locks a byte of the file, which the kernel lets go of when its process ends. Who
  // has closed the file itself cannot tell, and believes that the others live.
  bool take_worker_place() const noexcept;
  bool take_place(std::uint32_t desk) const noexcept;
  bool has_worker() const noexcept;  ///< as others see it
  bool is_taken(std::uint32_t desk) const noexcept;

 private:
  Descriptor file_;
  Doorbell bell_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace hocket::engine::handover
