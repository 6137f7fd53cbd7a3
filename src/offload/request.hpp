// An aggregation that is on its way. Its owner keeps it, where it is, until it is not pending any more.
#pragma once

#include <array>
#include <cstddef>

#include "base/status.hpp"
#include "offload/aggregation.hpp"
#include "offload/elements.hpp"
#include "registration/cache.hpp"

namespace hocket::offload {

class Request {
 public:
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// As the group has last seen it: ok, pending, or failed.
  Status status() const noexcept { return status_; }
  /// SHARP's, of one that failed.
  int error() const noexcept { return error_; }

 private:
  friend class Group;

  bool is_over() const noexcept { return is_posted_ && !parts_[0] && !parts_[1]; }

  Aggregation what_;
  Reduction reduction_;
  registration::Lease source_, target_;
  std::size_t posted_ = 0;        ///< bytes
  bool is_posted_ = false;        ///< all of it
  std::array<void*, 2> parts_{};  ///< SHARP's requests: the next part is posted before the one before it ends
  Status status_ = Status::ok;
  int error_ = 0;
  Request *before_ = nullptr, *behind_ = nullptr;  ///< the group's others that are pending
};

}  // namespace hocket::offload
