// What a communicator keeps in shared memory, part 0 of its slot: one header, and per rank its flag lines and
// small payloads. Everything below RankArea is written by its own rank only.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ir/collective.hpp"

namespace hocket::transports::shm {

using ir::Rank;

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::uint32_t ring = 64;           ///< instances by which a rank may run ahead of another
inline constexpr std::size_t inline_bytes = 56;     ///< payload that travels in its flag's line
inline constexpr std::size_t payload_bytes = 4096;  ///< payload that travels beside it
inline constexpr std::uint32_t payload_areas = 64;  ///< payloads take as many areas side by side as they need
inline constexpr std::size_t payload_area_bytes = 256;
inline constexpr std::uint32_t marks_kept =
    2 * ring;  ///< a rank marks its next call before it waits for its turn

/// Staging areas begin so far into a page. Large buffers of programs begin at a page or 16 bytes later, which
/// is the trap of base/copy.hpp for what is copied to them from where a page begins.
inline constexpr std::size_t staging_shift = 1024;

/// What a schedule with one-sided access tells of a rank.
struct Signals {
  std::atomic<std::uint32_t> step;  ///< steps reached in this instance
  // Where its user buffers are, for those that may read them.
  std::atomic<std::uint64_t> input;
  std::atomic<std::uint64_t> output;
};

/// The flag of one instance. `word` = signature << 32 | instance; written last, so whoever sees it sees the
/// payload.
struct alignas(line_bytes) Line {
  std::atomic<std::uint64_t> word;
  union {
    Signals signals;
    std::array<std::byte, inline_bytes> payload;  ///< flat plans
  };
};
static_assert(sizeof(Line) == line_bytes);

/// Which call a rank's instance is: for messages to people and for the check against calls that the MPI runs.
/// Read by others only when something is late or wrong.
struct alignas(32) Mark {
  std::atomic<std::uint64_t>
      call;  ///< instance << 32 | what the engine packs: function, operation, who runs it
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::int64_t> root;
};

/// What a rank found out about reading others' memory (engine/single_copy.hpp). Written once.
struct alignas(line_bytes) Vote {
  std::atomic<std::uint32_t> word;   ///< 0: none yet
  std::atomic<std::uint32_t> since;  ///< on a lane: the first instance that it holds for; written before
};

/// What a rank measured of the data paths of one trial (engine/trials.hpp), for all to read: a time for each
/// path, twice.
struct TrialNote {
  static constexpr std::size_t paths = 3;
  static constexpr std::size_t series = 2;
  std::array<std::array<std::atomic<std::uint32_t>, paths>, series> ns;
};
inline constexpr std::uint32_t trial_notes = 16;

/// Own bytes in calls whose sizes are not known to all, as powers of two (engine/size_samples.hpp).
inline constexpr std::size_t sampled_functions = 3;
inline constexpr std::uint32_t size_samples = 2;
using SizePowers = std::array<std::array<std::atomic<std::uint8_t>, size_samples>, sampled_functions>;

struct RankArea {
  /// An instance that this rank has left for good, as all before it.
  alignas(line_bytes) std::atomic<std::uint32_t> finished;
  SizePowers size_powers;  ///< in this line: who reads a sample has just read `finished`
  alignas(line_bytes) std::array<Mark, marks_kept> marks;
  Vote vote;
  std::array<TrialNote, trial_notes> trials;
  std::array<Line, ring> lines;
  alignas(line_bytes) std::array<std::byte, payload_areas * payload_area_bytes> payload;
};

inline constexpr std::size_t error_text_bytes = 960;

struct alignas(line_bytes) Header {
  alignas(line_bytes) std::atomic<std::uint32_t> sleepers;
  alignas(
      line_bytes) std::atomic<std::uint32_t> failed;  ///< 0; 1 while the text is written; 2: text is complete
  std::atomic<std::uint32_t> stall_reported;          ///< instance whose stall was reported
  std::array<char, error_text_bytes> error_text;
};

inline constexpr std::size_t bytes_for(Rank ranks) {
  return sizeof(Header) + static_cast<std::size_t>(ranks) * sizeof(RankArea);
}

inline Header& header_in(std::byte* memory) noexcept {
  return *reinterpret_cast<Header*>(memory);
}

/// A view of the slot's memory.
struct Layout {
  Header* header = nullptr;
  RankArea* areas = nullptr;

  explicit Layout(std::byte* memory = nullptr)
      : header(reinterpret_cast<Header*>(memory)),
        areas(memory ? reinterpret_cast<RankArea*>(memory + sizeof(Header)) : nullptr) {}
};

}  // namespace hocket::transports::shm
