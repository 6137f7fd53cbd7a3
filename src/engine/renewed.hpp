// A value that is made anew for each use of what holds it, in place: nothing is allocated.
#pragma once

#include <cstdlib>
#include <optional>
#include <utility>

namespace hocket::engine {

template <class Value>
class Renewed {
 public:
  template <class... Arguments>
  void make(Arguments&&... arguments) {
    value_.emplace(std::forward<Arguments>(arguments)...);
  }
  /// It has been made.
  Value& operator*() noexcept {
    if (!value_) std::abort();
    return *value_;
  }
  Value* operator->() noexcept { return &**this; }
  const Value* operator->() const noexcept { return const_cast<Renewed*>(this)->operator->(); }

 private:
  std::optional<Value> value_;
};

}  // namespace hocket::engine
