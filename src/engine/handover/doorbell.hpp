// What wakes a worker that rests. A socket, since the worker sleeps on its network's descriptor at the same
// time, and since a rank must neither get a signal when the worker has gone nor write into a file that the
// program has opened under a number that it has closed.
#pragma once

#include <utility>

#include "base/descriptor.hpp"

namespace hocket::engine::handover {

class Doorbell {
 public:
  Doorbell() = default;
  /// The worker's, with both ends. Throws Error.
  static Doorbell create();
  /// A rank's, of the end that the door has handed over.
  explicit Doorbell(Descriptor outside) : outside_(std::move(outside)) {}

  int outside() const noexcept { return outside_.number(); }
  /// Readable once it has been rung.
  int inside() const noexcept { return inside_.number(); }

  /// False: the program has closed it.
  bool is_intact() const noexcept { return outside_.intact(); }
  void ring() const noexcept;
  /// What has been rung until now is over.
  void fall_silent() noexcept;

 private:
  Descriptor outside_, inside_;
};

}  // namespace hocket::engine::handover
