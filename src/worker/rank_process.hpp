// A rank's process, as far as its worker needs it. It is beside the worker (local_process.hpp), or the worker
// is on another processor, and a process beside the rank does what is asked for (remote_process.hpp).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.hpp"
#include "transports/transport.hpp"
#include "worker/mapped_range.hpp"

namespace hocket::worker {

class RankProcess {
 public:
  using Range = std::shared_ptr<const MappedRange>;

  RankProcess() = default;
  virtual ~RankProcess() = default;
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  virtual pid_t pid() const noexcept = 0;  ///< as its own machine numbers it
  /// It lives, whatever it has done to its descriptors.
  virtual bool is_alive() const noexcept = 0;

  /// Fills `target` from its memory. 0, or the errno; nothing is known of the target's content then.
  virtual int read(std::uint64_t address, transports::Piece target) noexcept = 0;
  /// The other way. Nothing is known of what was written if it fails.
  virtual int write(std::uint64_t address, transports::Piece source) noexcept = 0;

  /// Memory of it that may be mapped from now on. Throws Error for more ranges than a rank has. One that
  /// cannot be mapped is left: its memory is read and written as all other.
  virtual void share(const engine::SharedRange& range) = 0;
  /// Null: it is not in any that is mapped.
  virtual Range range_of(std::uint64_t address, std::size_t bytes) const noexcept = 0;
  /// It needs none of them any more.
  virtual void forget_ranges() noexcept = 0;

  /// A call that it has defined has all its buffers there.
  virtual void count_mapped() noexcept = 0;

  /// Why its next operation to fail does.
  virtual void say_why(std::string_view words) noexcept = 0;
  /// Says at its desk what has become of an operation, and wakes who sleeps on it.
  virtual void complete(std::uint32_t completion, Status status) noexcept = 0;
};

}  // namespace hocket::worker
