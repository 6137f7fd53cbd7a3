// What goes over a connection between a member of an aggregation tree (a host, or a switch) and the switch
// above it. Up goes what is to be combined, down what it came to. Both sides are little-endian.
// docs/design/0018.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/kernels.hpp"

namespace hocket::wire {

static_assert(std::endian::native == std::endian::little, "frames go as they lie in memory");

inline constexpr std::uint32_t magic = 0x31'54'4b'48;  // "HKT1"
inline constexpr std::uint16_t version = 1;

enum class FrameKind : std::uint8_t {
  // up
  join = 1,  ///< Join; of a switch again, with all that it has by now, as members come
  leave,     ///< the group is not used any more by any member below: so it ends for all
  lock,      ///< all members below want to stream; without payload, or with a Verdict: refused below
  unlock,    ///< they have streamed; not after a refusal
  // both ways
  data = 16,  ///< bytes of operation `operation` of `group`, from `offset` on
  failed,     ///< Failure: the group is dead, and a verdict that is waited for will not come. Without an
              ///< error: a member has left it. Group 0: the connection is dead
  // down
  joined = 32,  ///< Joined: the verdict
  locked,       ///< Verdict
};

/// Of data frames, `flags`. Up: of a child, the first two the same in all frames of an operation. Down: only
/// the last two.
///
/// What a child sends of an operation, with payload or hollow, is never more than the window ahead of what
/// has come down of it: the window bounds the sum over the group's streaming operations. In streaming mode a
/// child sends an operation to its end before it begins the next, or nobody could promise that the window
/// opens again.
enum Flag : std::uint8_t {
  contributes = 1,  ///< else all its frames are hollow
  wants = 2,        ///< the result; else all frames that it gets are hollow
  streaming = 4,
  /// No payload: what lies before `offset` is over (down), or will never come (up). `total` there: all of it.
  hollow = 8,
};

struct FrameHead {
  std::uint32_t bytes = 0;  ///< of payload that follow
  FrameKind kind = FrameKind::data;
  std::uint8_t flags = 0;
  kernels::ElementType type = kernels::ElementType::none;
  kernels::OpKind op = kernels::OpKind::none;
  std::uint32_t group = 0;      ///< from 1 on; of this connection (see Join)
  std::uint32_t operation = 0;  ///< of the group, counted from 0, by each member alike
  std::uint64_t offset = 0;     ///< in bytes; a multiple of the element's size
  std::uint64_t total = 0;      ///< bytes of the whole operation
};
static_assert(sizeof(FrameHead) == 32);

/// No payload is longer; small-mode payloads are no longer than the tree's `payload_per_operation`.
inline constexpr std::uint32_t longest_payload = std::uint32_t{64} << 10U;

/// The same numbers as SHARP's errors, so that the library hands them on.
enum class Error : std::int32_t {
  none = 0,
  general = -1,
  not_supported = -2,
  no_memory = -3,
  group_refused = -4,  ///< no group is left
  no_tree = -5,        ///< the switch above is not reached
  join_refused = -6,
  quota = -7,  ///< of the job
  invalid = -10,
  job_refused = -11,  ///< key, version, number of jobs
  lock_taken = -18,   ///< by another job: may be tried again
  lock_denied = -19,  ///< this tree does not stream
  no_resource = -20,
};

/// First from who connects, before the proofs (tcp/key.hpp).
struct Hello {
  std::uint32_t magic = wire::magic;
  std::uint16_t version = wire::version;
  std::uint16_t is_switch = 0;
  std::uint64_t job = 0;   ///< of a host
  std::uint32_t rank = 0;  ///< of a host, in the job
  std::uint32_t size = 0;  ///< of the job
};
static_assert(sizeof(Hello) == 24);

/// After the proofs, from the switch: what a job may have, on all switches of the tree together. `error`
/// other than none: why not, and the connection ends.
struct Welcome {
  Error error = Error::none;
  std::uint32_t most_groups = 0;            ///< of the job
  std::uint32_t most_operations = 0;        ///< outstanding in small mode, of the job
  std::uint32_t operations_per_group = 0;   ///< outstanding in small mode
  std::uint32_t payload_per_operation = 0;  ///< bytes, in small mode
  std::uint32_t can_stream = 0;
  std::uint64_t window = 0;  ///< bytes of a group that a member may be ahead, in streaming mode
};
static_assert(sizeof(Welcome) == 32);

/// `job` and `group` name the group to all switches. The number in the frame's head is what this connection
/// calls it from now on: a host's is the same, a switch chooses one that it has not used before.
struct Join {
  std::uint64_t job = 0;
  std::uint32_t group = 0;
  std::uint32_t size = 0;     ///< of the group, in ranks
  std::uint32_t ranks = 0;    ///< of it that are below: 1 of a host
  std::uint32_t lowest = 0;   ///< of them, in the group: orders children
  Error error = Error::none;  ///< a refusal below
  std::uint32_t unused = 0;
};
static_assert(sizeof(Join) == 32);

struct Joined {
  Error error = Error::none;
  std::uint32_t height = 0;  ///< switches between the group's root and this member: 0 of the root's children
};
static_assert(sizeof(Joined) == 8);

struct Verdict {
  Error error = Error::none;
};

struct Failure {
  Error error = Error::general;
  std::array<char, 60> words{};  ///< for people; ends in 0
};
static_assert(sizeof(Failure) == 64);

}  // namespace hocket::wire
