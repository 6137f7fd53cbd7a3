// A field of an enumeration as its caller has left it: it may be any number, which C++ does not let an
// enumeration be.
#pragma once

#include <cstring>

namespace hocket::sharp {

template <class Enumeration>
unsigned number_of(const Enumeration& field) noexcept {
  unsigned number = 0;
  static_assert(sizeof number == sizeof field);
  std::memcpy(&number, &field, sizeof number);
  return number;
}

}  // namespace hocket::sharp
