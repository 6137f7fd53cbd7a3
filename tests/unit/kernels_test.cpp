// Every (operation, type), in every instruction set of this machine, against kernels_reference.hpp: lengths,
// numbers of sources, aliases, alignments. The seed is printed; TEST_SEED repeats a run.
#include "kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdlib>
#include <random>
#include <string>

#include "base/error.hpp"
#include "harness/seed.hpp"
#include "kernels_reference.hpp"

namespace hocket::kernels {
namespace {

constexpr int max_sources = 17;
constexpr std::size_t max_elements = 4099;
constexpr std::size_t guard = 64;
constexpr unsigned char guard_byte = 0xa5;

using Random = std::mt19937_64;
using Bytes = std::vector<unsigned char>;

template <class T>
T awkward_real(Random& random) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T tiny = std::numeric_limits<T>::denorm_min();
  constexpr T huge = std::numeric_limits<T>::max();
  const T table[] = {T(0), -T(0), T(1), T(-1), T(2), T(0.5), inf, -inf, nan, -nan, tiny, -tiny, huge, -huge};
  return table[random() % std::size(table)];
}

template <class T>
T some_real(Random& random) {
  if (random() % 8 == 0) return awkward_real<T>(random);
  const auto mantissa = static_cast<T>(static_cast<std::int64_t>(random())) / T(0x1p62);
  return std::ldexp(mantissa, static_cast<int>(random() % 41) - 20);
}

// Few values, so that ties happen.
template <class T>
T some_value(Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return random() % 4 == 0 ? awkward_real<T>(random) : T(static_cast<int>(random() % 5) - 2);
  } else {
    const T table[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(0), T(1), T(-1), T(2)};
    return table[random() % std::size(table)];
  }
}

template <class T>
void real_parts(Random& random, unsigned char* at, int parts) {
  for (int i = 0; i < parts; ++i) reference::put(at + i * sizeof(T), some_real<T>(random));
}

template <class Value, class Index, std::size_t index_offset = sizeof(Value)>
void pair_into(Random& random, unsigned char* at) {
  const Value value = some_value<Value>(random);
  std::memcpy(at, &value, std::is_same_v<Value, long double> ? 10 : sizeof(value));
  const Index index = some_value<Index>(random);
  std::memcpy(at + index_offset, &index, sizeof(index));
}

// Gaps hold garbage. Types of two bytes get any bit pattern at all.
void element_into(Random& random, ElementType type, unsigned char* at) {
  for (std::size_t i = 0; i < element_size(type); ++i) at[i] = static_cast<unsigned char>(random());
  const bool often_zero = type <= ElementType::u64 || type == ElementType::logical32;
  if ((often_zero && random() % 4 == 0) || type == ElementType::bool8) {
    std::memset(at, 0, element_size(type));
    at[0] = random() % 2;
  }
  switch (type) {
    case ElementType::f32:
      return real_parts<float>(random, at, 1);
    case ElementType::f64:
      return real_parts<double>(random, at, 1);
    case ElementType::f80:
      return real_parts<long double>(random, at, 1);
    case ElementType::c32:
      return real_parts<float>(random, at, 2);
    case ElementType::c64:
      return real_parts<double>(random, at, 2);
    case ElementType::c80:
      return real_parts<long double>(random, at, 2);
    case ElementType::pair_f32_i32:
      return pair_into<float, std::int32_t>(random, at);
    case ElementType::pair_f64_i32:
      return pair_into<double, std::int32_t>(random, at);
    case ElementType::pair_i64_i32:
      return pair_into<std::int64_t, std::int32_t>(random, at);
    case ElementType::pair_i32_i32:
      return pair_into<std::int32_t, std::int32_t>(random, at);
    case ElementType::pair_i16_i32:
      return pair_into<std::int16_t, std::int32_t, 4>(random, at);
    case ElementType::pair_f80_i32:
      return pair_into<long double, std::int32_t>(random, at);
    case ElementType::pair_f32_f32:
      return pair_into<float, float>(random, at);
    case ElementType::pair_f64_f64:
      return pair_into<double, double>(random, at);
    default:
      return;
  }
}

// Sources for one type, and for one operation the right answer for every number of sources.
struct Case {
  OpKind op;
  ElementType type;
  std::size_t size;
  Bytes sources[max_sources];
  Bytes expected[max_sources + 1];

  Case(OpKind an_op, ElementType a_type, Random& random)
      : op(an_op), type(a_type), size(element_size(a_type)) {
    for (Bytes& source : sources) {
      source.resize(max_elements * size);
      for (std::size_t i = 0; i < max_elements; ++i) element_into(random, type, &source[i * size]);
    }
    expected[1] = sources[0];
    for (int k = 2; k <= max_sources; ++k) {
      expected[k] = expected[k - 1];
      for (std::size_t i = 0; i < max_elements; ++i)
        reference::apply(op, type, &expected[k][i * size], &expected[k - 1][i * size],
                         &sources[k - 1][i * size]);
    }
  }
};

// One call on copies of the sources at random alignments; alias < 0: a destination of its own.
void check(const Case& c, int k, std::size_t n, int alias, Random& random) {
  Bytes buffers[max_sources + 1];
  const void* src[max_sources];
  const std::size_t bytes = n * c.size;
  std::size_t dst_shift = random() % guard;
  for (int j = 0; j < k; ++j) {
    const std::size_t shift = random() % guard;
    buffers[j].resize(shift + bytes + guard, guard_byte);
    std::memcpy(buffers[j].data() + shift, c.sources[j].data(), bytes);
    src[j] = buffers[j].data() + shift;
    if (j == alias) dst_shift = shift;
  }
  Bytes& out = alias < 0 ? buffers[max_sources] : buffers[alias];
  out.resize(dst_shift + bytes + guard, guard_byte);
  unsigned char* dst = out.data() + dst_shift;
  find(c.op, c.type)(dst, src, k, n);

  const auto where = [&] {
    return std::string(name(c.op)) + " " + std::string(name(c.type)) + " " + std::string(selected_isa()) +
           " n=" + std::to_string(n) + " k=" + std::to_string(k) + " alias=" + std::to_string(alias);
  };
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_TRUE(reference::same(c.op, c.type, dst + i * c.size, &c.expected[k][i * c.size]))
        << where() << " i=" << i;
  for (std::size_t i = 0; i < guard; ++i) ASSERT_EQ(dst[bytes + i], guard_byte) << where();
  for (int j = 0; j < k; ++j) {
    const bool intact = j == alias || std::memcmp(src[j], c.sources[j].data(), bytes) == 0;
    ASSERT_TRUE(intact) << where() << " source " << j;
  }
}

void check_lengths(const Case& c, Random& random) {
  for (std::size_t n = 0; n <= 70; ++n)
    for (const int k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17})
      ASSERT_NO_FATAL_FAILURE(check(c, k, n, static_cast<int>(random() % (k + 1)) - 1, random));
  for (const std::size_t n : {std::size_t{257}, std::size_t{1023}, max_elements})
    for (const int k : {1, 2, 3, 8, 17}) ASSERT_NO_FATAL_FAILURE(check(c, k, n, -1, random));
}

void check_aliases(const Case& c, Random& random) {
  for (const std::size_t n : {1, 7, 33, 261})
    for (const int k : {1, 2, 3, 4, 8, 9, 17})
      for (int alias = -1; alias < k; ++alias) ASSERT_NO_FATAL_FAILURE(check(c, k, n, alias, random));
}

class Kernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const std::string_view isa : available_isas())
      if (isa == GetParam()) return select(isa);
    GTEST_SKIP() << "instruction set " << GetParam() << " is not available here";
  }
  void TearDown() override { select("auto"); }
};

template <class Body>
void for_each_pair(Body body) {
  for (std::size_t op = 0; op < op_kind_count; ++op)
    for (std::size_t type = 0; type < element_type_count; ++type)
      body(static_cast<OpKind>(op), static_cast<ElementType>(type));
}

TEST_P(Kernels, has_exactly_the_supported_pairs) {
  for_each_pair([](OpKind op, ElementType type) {
    EXPECT_EQ(find(op, type) != nullptr, supported(op, type)) << name(op) << ' ' << name(type);
  });
  EXPECT_EQ(find(OpKind::none, ElementType::f64), nullptr);
  EXPECT_EQ(find(OpKind::sum, ElementType::none), nullptr);
}

TEST_P(Kernels, match_the_reference_bit_for_bit) {
  Random random(harness::test_seed());
  for_each_pair([&random](OpKind op, ElementType type) {
    if (!supported(op, type) || testing::Test::HasFatalFailure()) return;
    const Case c(op, type, random);
    check_lengths(c, random);
    if (!testing::Test::HasFatalFailure()) check_aliases(c, random);
  });
}

TEST_P(Kernels, one_buffer_may_be_every_source_and_the_destination) {
  std::vector<std::int64_t> data(100, 3);
  const void* src[] = {data.data(), data.data(), data.data()};
  find(OpKind::sum, ElementType::i64)(data.data(), src, 3, data.size());
  EXPECT_EQ(data, std::vector<std::int64_t>(100, 9));
}

TEST_P(Kernels, small_integers_wrap) {
  const std::vector<std::int8_t> a(100, 100);
  std::vector<std::int8_t> out(100);
  const void* src[] = {a.data(), a.data()};
  find(OpKind::sum, ElementType::i8)(out.data(), src, 2, out.size());
  EXPECT_EQ(out, std::vector<std::int8_t>(100, -56));
}

template <class T>
std::vector<T> reduced(OpKind op, ElementType type, T left, T right) {
  const std::vector<T> a(37, left), b(37, right);
  std::vector<T> out(37);
  const void* src[] = {a.data(), b.data()};
  find(op, type)(out.data(), src, 2, out.size());
  return out;
}

TEST_P(Kernels, max_and_min_keep_the_left_operand_on_ties_and_nan) {
  for (const OpKind op : {OpKind::max, OpKind::min}) {
    for (const double out : reduced(op, ElementType::f64, -0.0, 0.0)) EXPECT_TRUE(std::signbit(out));
    for (const double out : reduced(op, ElementType::f64, 0.0, -0.0)) EXPECT_FALSE(std::signbit(out));
    for (const double out : reduced(op, ElementType::f64, 1.0, static_cast<double>(NAN))) EXPECT_EQ(out, 1.0);
    for (const double out : reduced(op, ElementType::f64, static_cast<double>(NAN), 1.0))
      EXPECT_TRUE(std::isnan(out));
  }
}

// -1 as an index is a NaN when read as a float, and comparing it would raise the invalid flag.
TEST_P(Kernels, indices_are_never_compared_as_floats) {
  struct FloatInt {
    float value;
    int index;
    bool operator==(const FloatInt&) const = default;
  };
  std::feclearexcept(FE_ALL_EXCEPT);
  const auto out = reduced(OpKind::maxloc, ElementType::pair_f32_i32, FloatInt{1, -1}, FloatInt{2, -3});
  EXPECT_EQ(std::fetestexcept(FE_INVALID), 0);
  EXPECT_EQ(out, std::vector<FloatInt>(37, FloatInt{2, -3}));
}

// All 2^16 left operands with some right operands: the conversions are exhaustive.
void check_all_short_floats(OpKind op, ElementType type, std::uint16_t right) {
  std::vector<std::uint16_t> a(65536), b(65536, right), out(65536);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint16_t>(i);
  const void* src[] = {a.data(), b.data()};
  find(op, type)(out.data(), src, 2, out.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint16_t expected;
    const auto* left = reinterpret_cast<const unsigned char*>(&a[i]);
    reference::apply(op, type, reinterpret_cast<unsigned char*>(&expected), left,
                     reinterpret_cast<const unsigned char*>(&right));
    ASSERT_TRUE(reference::same(op, type, reinterpret_cast<const unsigned char*>(&out[i]),
                                reinterpret_cast<const unsigned char*>(&expected)))
        << name(op) << ' ' << name(type) << " left " << i << " right " << right << ": " << out[i] << " not "
        << expected;
  }
}

TEST_P(Kernels, short_floats_round_to_nearest_even) {
  Random random(harness::test_seed());
  for (const ElementType type : {ElementType::f16, ElementType::bf16})
    for (const OpKind op : {OpKind::sum, OpKind::prod, OpKind::max, OpKind::min}) {
      for (const std::uint16_t right :
           {0x0000, 0x8000, 0x0001, 0x03ff, 0x3800, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7f80})
        ASSERT_NO_FATAL_FAILURE(check_all_short_floats(op, type, right));
      for (int i = 0; i < 4; ++i)
        ASSERT_NO_FATAL_FAILURE(check_all_short_floats(op, type, static_cast<std::uint16_t>(random())));
    }
}

#if defined(__x86_64__)
constexpr const char* built_isas[] = {"sse2", "avx2", "avx512"};
#elif defined(__aarch64__)
constexpr const char* built_isas[] = {"neon"};
#else
constexpr const char* built_isas[] = {"plain"};
#endif
INSTANTIATE_TEST_SUITE_P(isas, Kernels, testing::ValuesIn(built_isas),
                         [](const auto& info) { return std::string(info.param); });

TEST(KernelTypes, have_the_sizes_of_their_c_types) {
  EXPECT_EQ(element_size(ElementType::f16), 2u);
  EXPECT_EQ(element_size(ElementType::f80), sizeof(long double));
  EXPECT_EQ(element_size(ElementType::pair_f64_i32), 16u);
  EXPECT_EQ(element_size(ElementType::pair_i16_i32), 8u);
  EXPECT_EQ(element_size(ElementType::pair_f32_i32), 8u);
  EXPECT_EQ(element_size(ElementType::none), 0u);
}

TEST(KernelTypes, follow_the_table_of_the_standard) {
  EXPECT_TRUE(supported(OpKind::sum, ElementType::c80));
  EXPECT_FALSE(supported(OpKind::max, ElementType::c64));
  EXPECT_FALSE(supported(OpKind::band, ElementType::f32));
  EXPECT_TRUE(supported(OpKind::bxor, ElementType::byte));
  EXPECT_FALSE(supported(OpKind::sum, ElementType::byte));
  EXPECT_TRUE(supported(OpKind::land, ElementType::bool8));
  EXPECT_FALSE(supported(OpKind::sum, ElementType::logical32));
  EXPECT_FALSE(supported(OpKind::max, ElementType::pair_f32_f32));
}

TEST(KernelSelection, takes_the_best_and_refuses_the_unknown) {
  const auto isas = available_isas();
  ASSERT_FALSE(isas.empty());
  select("auto");
  EXPECT_EQ(selected_isa(), isas.back());
  select(isas.front());
  EXPECT_EQ(selected_isa(), isas.front());
  EXPECT_THROW(select("avx9000"), Error);
  EXPECT_EQ(selected_isa(), isas.front());
  select("");
  EXPECT_EQ(selected_isa(), isas.back());
}

}  // namespace
}  // namespace hocket::kernels
