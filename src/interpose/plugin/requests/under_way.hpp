// The requests that have been started and have not ended, oldest first. The links are in the requests: one
// comes and goes without a search.
#pragma once

#include <cstdint>

#include "interpose/plugin/requests/request.hpp"

namespace hocket::interpose {

/// Everything under the progress lock.
class UnderWay {
 public:
  bool is_empty() const noexcept { return !oldest_; }
  bool is_only(const Request& request) const noexcept { return oldest_ == &request && youngest_ == &request; }
  Request* oldest() const noexcept { return oldest_; }
  static Request* after(const Request& request) noexcept { return request.younger_; }

  /// Requests that have been added so far.
  std::uint64_t added() const noexcept { return added_; }
  /// All up to this number, counted as they were added, have been removed.
  std::uint64_t all_removed() const noexcept { return oldest_ ? oldest_->number_ - 1 : added_; }

  void add(Request& request) noexcept {
    request.number_ = ++added_;
    request.older_ = youngest_;
    request.younger_ = nullptr;
    (youngest_ ? youngest_->younger_ : oldest_) = &request;
    youngest_ = &request;
  }
  void remove(Request& request) noexcept {
    (request.older_ ? request.older_->younger_ : oldest_) = request.younger_;
    (request.younger_ ? request.younger_->older_ : youngest_) = request.older_;
  }

 private:
  Request* oldest_ = nullptr;
  Request* youngest_ = nullptr;
  std::uint64_t added_ = 0;
};

}  // namespace hocket::interpose
