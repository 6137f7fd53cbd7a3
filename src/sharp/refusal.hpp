// What set-up code throws here: the reason in words, and the number by which SHARP's callers know it.
#pragma once

#include <string>

#include "base/error.hpp"
#include "sharp/api/sharp_coll.h"

namespace hocket::sharp {

class Refusal : public Error {
 public:
  Refusal(sharp_error_no code, const std::string& words) : Error(words), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  sharp_error_no code_;
};

/// Never null, for any number.
const char* words_of(int code) noexcept;

}  // namespace hocket::sharp
