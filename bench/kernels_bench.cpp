// How fast the reduction and copy kernels are, per instruction set, the sets taking turns within one run so
// that their ratios do not depend on what else the machine does.
//
//   hocket_kernels_bench [--rounds N]     prints Markdown tables: GB/s (all sources read and the result
//   written,
//                                         median of the rounds), small-message times in ns, and copies
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/copy.hpp"
#include "kernels/kernels.hpp"

namespace {

using hocket::kernels::ElementType;
using hocket::kernels::OpKind;
using hocket::kernels::ReduceFn;
using Clock = std::chrono::steady_clock;

struct Case {
  OpKind op;
  ElementType type;
};

constexpr Case cases[] = {{OpKind::sum, ElementType::f64},  {OpKind::sum, ElementType::f32},
                          {OpKind::sum, ElementType::i32},  {OpKind::max, ElementType::f64},
                          {OpKind::sum, ElementType::f16},  {OpKind::sum, ElementType::bf16},
                          {OpKind::prod, ElementType::c64}, {OpKind::minloc, ElementType::pair_f64_i32}};

int rounds = 31;

std::string label(const Case& c) {
  return std::string(name(c.op)) + " " + std::string(name(c.type));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Nanoseconds per call over about 50 us of calls.
template <class Call>
double time_calls(Call call, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls;
}

template <class Call>
int calls_for_a_sample(Call call) {
  int calls = 1;
  while (calls < (1 << 20) && time_calls(call, calls) * calls < 50'000) calls *= 2;
  return calls;
}

class Buffers {
 public:
  Buffers(std::size_t bytes, int sources) : bytes_((bytes + 127) / 64 * 64) {
    for (int i = 0; i <= sources; ++i) {
      memory_.push_back(static_cast<char*>(std::aligned_alloc(64, bytes_)));
      std::memset(memory_.back(), 0, bytes_);
    }
  }
  ~Buffers() {
    for (char* memory : memory_) std::free(memory);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  char* dst() const { return memory_[0]; }
  const void* const* sources() const { return reinterpret_cast<const void* const*>(memory_.data() + 1); }

 private:
  std::size_t bytes_;
  std::vector<char*> memory_;
};

// Median ns per call of each instruction set.
std::vector<double> measure(const Case& c, std::size_t n, int k) {
  const Buffers buffers(n * element_size(c.type), k);
  const auto isas = hocket::kernels::available_isas();
  std::vector<ReduceFn> functions;
  for (const auto isa : isas) {
    hocket::kernels::select(isa);
    functions.push_back(hocket::kernels::find(c.op, c.type));
  }
  const auto call_of = [&](ReduceFn function) {
    return [&buffers, function, n, k] { function(buffers.dst(), buffers.sources(), k, n); };
  };
  const int calls = calls_for_a_sample(call_of(functions.back()));
  std::vector<std::vector<double>> samples(isas.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < isas.size(); ++i)
      samples[i].push_back(time_calls(call_of(functions[i]), calls));
  std::vector<double> result;
  for (const auto& sample : samples) result.push_back(median(sample));
  return result;
}

void print_header(const char* first) {
  std::printf("\n| %s |", first);
  for (const auto isa : hocket::kernels::available_isas()) std::printf(" %s |", std::string(isa).c_str());
  std::printf(" best : first |\n|---|");
  for (std::size_t i = 0; i <= hocket::kernels::available_isas().size(); ++i) std::printf("---:|");
  std::printf("\n");
}

void print_rates() {
  print_header("GB/s: operation, type, n, k");
  for (const Case& c : cases)
    for (const std::size_t n : {128, 8192, 131072})
      for (const int k : {2, 4, 8}) {
        const auto times = measure(c, n, k);
        const double bytes = static_cast<double>(n * element_size(c.type)) * (k + 1);
        std::printf("| %s %zu %d |", label(c).c_str(), n, k);
        for (const double time : times) std::printf(" %.0f |", bytes / time);
        std::printf(" %.2f |\n", times.front() / times.back());
      }
}

void print_small() {
  print_header("ns per call: operation, type, n, k");
  for (const Case& c : {cases[0], cases[1], cases[4], cases[7]})
    for (const std::size_t n : {1, 2, 3, 7, 8, 16})
      for (const int k : {2, 8}) {
        const auto times = measure(c, n, k);
        std::printf("| %s %zu %d |", label(c).c_str(), n, k);
        for (const double time : times) std::printf(" %.1f |", time);
        std::printf(" %.2f |\n", times.front() / times.back());
      }
}

void print_copies() {
  std::printf("\n| bytes | memcpy, ns | copy, ns | copy_streaming, ns |\n|---:|---:|---:|---:|\n");
  using Function = void (*)(void*, const void*, std::size_t);
  const Function functions[] = {
      [](void* d, const void* s, std::size_t b) { std::memcpy(d, s, b); },
      [](void* d, const void* s, std::size_t b) { hocket::kernels::copy(d, s, b); },
      [](void* d, const void* s, std::size_t b) { hocket::kernels::copy_streaming(d, s, b); }};
  for (std::size_t bytes :
       {1, 4, 8, 16, 24, 32, 64, 256, 4096, 65536, 1 << 20, 4 << 20, 8 << 20, 16 << 20, 64 << 20}) {
    const Buffers buffers(bytes, 1);
    std::vector<double> samples[3];
    volatile std::size_t length = bytes;  // unknown to the compiler, as on the run path
    for (int round = 0; round < rounds; ++round)
      for (int i = 0; i < 3; ++i) {
        const auto call = [&, i] { functions[i](buffers.dst(), buffers.sources()[0], length); };
        call();  // each finds the caches as it leaves them itself
        samples[i].push_back(
            time_calls(call, static_cast<int>(std::max<std::size_t>(1, 100'000 / (bytes + 50)))));
      }
    std::printf("| %zu | %.1f | %.1f | %.1f |\n", bytes, median(samples[0]), median(samples[1]),
                median(samples[2]));
  }
}

// Where the target begins within its page, whose source begins where a page does (base/copy.hpp).
void print_copies_within_pages() {
  constexpr std::size_t page = 4096, bytes = 65536;
  std::printf("\n| target within its page | memcpy, GB/s | copy, GB/s |\n|---:|---:|---:|\n");
  const std::unique_ptr<char, void (*)(void*)> from(static_cast<char*>(std::aligned_alloc(page, bytes)),
                                                    std::free),
      to(static_cast<char*>(std::aligned_alloc(page, bytes + page)), std::free);
  std::memset(from.get(), 1, bytes);
  std::memset(to.get(), 1, bytes + page);
  volatile std::size_t length = bytes;
  for (const std::size_t shift : {0, 1, 16, 31, 32, 64, 1024, 4080}) {
    std::vector<double> samples[2];
    for (int round = 0; round < rounds; ++round) {
      samples[0].push_back(time_calls([&] { std::memcpy(to.get() + shift, from.get(), length); }, 20));
      samples[1].push_back(
          time_calls([&] { hocket::kernels::copy(to.get() + shift, from.get(), length); }, 20));
    }
    std::printf("| %zu | %.1f | %.1f |\n", shift, bytes / median(samples[0]), bytes / median(samples[1]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--rounds") == 0)
    rounds = std::max(1, static_cast<int>(std::strtol(argv[2], nullptr, 10)));
  print_rates();
  print_small();
  print_copies();
  print_copies_within_pages();
  return 0;
}
