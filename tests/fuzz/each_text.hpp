// Texts that nobody meant, one after the other. Every text has a seed of its own; a failure names it, and
// TEST_SEED starts there.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "harness/damaged_text.hpp"
#include "harness/seed.hpp"

namespace hocket {

using harness::DamagedText;
using Words = std::vector<std::string_view>;

constexpr double seconds_per_parser = 1;

/// `body` with one text after the other, until the time is over or something has failed.
template <class Body>
void each_text(const Words& words, Body body) {
  std::uint64_t seed = harness::test_seed();
  for (const Deadline deadline(seconds_per_parser); !deadline.passed() && !testing::Test::HasFailure();) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    DamagedText text(seed++, words);
    body(text);
  }
}

/// Nothing where `parse` refuses, which it must do with a reason.
template <class Parse>
auto parsed(Parse parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    return std::nullopt;
  }
}

}  // namespace hocket
