#include "kernels/copy.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hocket::kernels {

#if defined(__SSE2__)
namespace {

constexpr std::size_t line = 64;

void stream_lines(char* to, const char* from, std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += line, from += line) {
    const __m128i* in = reinterpret_cast<const __m128i*>(from);
    __m128i* out = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(in);
    const __m128i b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2);
    const __m128i d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
}

}  // namespace

void copy_streaming(void* dst, const void* src, std::size_t bytes) noexcept {
  if (bytes < streaming_copy_minimum) return copy(dst, src, bytes);
  if (dst == src) return;
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % line;
  const std::size_t lines = (bytes - head) / line;
  const std::size_t streamed = head + lines * line;
  std::memcpy(to, from, head);
  stream_lines(to + head, from + head, lines);
  std::memcpy(to + streamed, from + streamed, bytes - streamed);
  _mm_sfence();  // streaming stores are not ordered with the flag that announces the data
}
#else
void copy_streaming(void* dst, const void* src, std::size_t bytes) noexcept {
  copy(dst, src, bytes);
}
#endif

}  // namespace hocket::kernels
