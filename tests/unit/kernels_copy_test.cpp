// Copies of all small lengths and some large ones at all alignments leave the bytes around them alone.
#include "kernels/copy.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace hocket::kernels {
namespace {

using CopyFunction = void (*)(void*, const void*, std::size_t) noexcept;

void check_copy(CopyFunction function, std::size_t bytes, std::size_t from_shift, std::size_t to_shift) {
  std::vector<unsigned char> from(bytes + 128), to(bytes + 128, 0xa5);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(bytes));
  function(to.data() + to_shift, from.data() + from_shift, bytes);
  ASSERT_EQ(std::memcmp(to.data() + to_shift, from.data() + from_shift, bytes), 0) << bytes;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i == to_shift) i += bytes;
    ASSERT_EQ(to[i], 0xa5) << bytes;
  }
}

void check_all(CopyFunction function, std::size_t bytes) {
  for (const std::size_t from_shift : {0, 1, 8, 33})
    for (const std::size_t to_shift : {0, 1, 4, 31, 63})
      ASSERT_NO_FATAL_FAILURE(check_copy(function, bytes, from_shift, to_shift));
}

TEST(Copy, copies_exactly_the_bytes) {
  for (std::size_t bytes = 0; bytes <= 200; ++bytes) ASSERT_NO_FATAL_FAILURE(check_all(copy, bytes));
  for (const std::size_t bytes : {4096, 65537}) ASSERT_NO_FATAL_FAILURE(check_all(copy, bytes));
}

TEST(Copy, streaming_copies_exactly_the_bytes) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{17}, streaming_copy_minimum - 1, streaming_copy_minimum,
        streaming_copy_minimum + 1, streaming_copy_minimum + 63})
    ASSERT_NO_FATAL_FAILURE(check_all(copy_streaming, bytes));
}

TEST(Copy, onto_itself_changes_nothing) {
  std::vector<unsigned char> data(10000, 7);
  for (const std::size_t bytes : {1, 8, 100, 10000}) {
    copy(data.data(), data.data(), bytes);
    copy_streaming(data.data(), data.data(), bytes);
  }
  EXPECT_EQ(data, std::vector<unsigned char>(10000, 7));
}

}  // namespace
}  // namespace hocket::kernels
