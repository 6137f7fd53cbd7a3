#include "sharp/speech.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/on_off.h"
#include "sharp/refusal.hpp"

namespace hocket::sharp {

namespace {

bool is_asked_for() noexcept {
  const char* const verbose = std::getenv("HOCKET_VERBOSE");
  const char* const level = std::getenv("SHARP_COLL_LOG_LEVEL");
  return (verbose && hocket_means_on(verbose)) || (level && *level > '0' && *level <= '9');
}

}  // namespace

void say_error(const char* where, int code, const char* words) noexcept {
  if (is_asked_for()) std::fprintf(stderr, "libsharp_coll: %s: %s (%s)\n", where, words_of(code), words);
}

}  // namespace hocket::sharp
