// Copies at all distances within a page, of lengths around those at which the way changes, leave the bytes
// around them alone.
#include "base/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

namespace hocket {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t pieces = detail::copied_by_vectors;

struct alignas(page) Memory {
  unsigned char bytes[8 * page];
};

void check(std::size_t bytes, std::size_t from_shift, std::size_t to_shift) {
  const auto from = std::make_unique<Memory>(), to = std::make_unique<Memory>();
  std::iota(std::begin(from->bytes), std::end(from->bytes), static_cast<unsigned char>(bytes));
  std::ranges::fill(to->bytes, 0xa5);
  copy_bytes(to->bytes + to_shift, from->bytes + from_shift, bytes);
  ASSERT_TRUE(std::equal(to->bytes + to_shift, to->bytes + to_shift + bytes, from->bytes + from_shift));
  for (std::size_t i = 0; i < sizeof to->bytes; ++i) {
    if (i == to_shift) i += bytes;
    ASSERT_EQ(to->bytes[i], 0xa5) << i;
  }
}

TEST(CopyBytes, CopiesExactlyTheBytes) {
  for (const std::size_t shift : {0UL, 1UL, 8UL, 16UL, 31UL, 32UL, 64UL, page - 1, page})
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, pieces - 1, pieces, pieces + 1,
                                    2 * pieces, 2 * pieces + 1, page, 5 * page + 7}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes at " << shift);
      ASSERT_NO_FATAL_FAILURE(check(bytes, 0, shift));
      ASSERT_NO_FATAL_FAILURE(check(bytes, shift, 0));
    }
}

/// In their pages, wherever those are.
TEST(CopyBytes, KnowsWhichTargetsAreJustBehindTheirSource) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<const void*>(address); };
  EXPECT_TRUE(detail::is_behind_in_page(at(7 * page + 16), at(3 * page)));
  EXPECT_TRUE(detail::is_behind_in_page(at(3 * page + 31), at(7 * page)));
  EXPECT_TRUE(detail::is_behind_in_page(at(3 * page), at(7 * page - 1)));
  EXPECT_FALSE(detail::is_behind_in_page(at(7 * page), at(3 * page)));
  EXPECT_FALSE(detail::is_behind_in_page(at(7 * page + 32), at(3 * page)));
  EXPECT_FALSE(detail::is_behind_in_page(at(7 * page), at(3 * page + 16)));
}

}  // namespace
}  // namespace hocket
