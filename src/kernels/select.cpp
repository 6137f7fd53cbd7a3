// Which instruction set's kernels to use: asked of the processor once, or forced by name.
#include <atomic>
#include <string>

#include "base/error.hpp"
#include "kernels/table.hpp"

namespace hocket::kernels {
namespace {

struct Candidate {
  const Table* table;
  bool (*available)() noexcept;
};

bool always() noexcept {
  return true;
}

#if defined(__x86_64__) && !defined(HOCKET_PLAIN_KERNELS)
// Exactly the flags that CMakeLists.txt compiles with; the check includes that the system saves the
// registers.
bool has_avx2() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

constexpr Candidate candidates[] = {
    {&table_sse2, always}, {&table_avx2, has_avx2}, {&table_avx512, has_avx512}};
#elif defined(__aarch64__) && !defined(HOCKET_PLAIN_KERNELS)
constexpr Candidate candidates[] = {{&table_neon, always}};
#else
constexpr Candidate candidates[] = {{&table_plain, always}};
#endif

std::atomic<const Table*> selected{nullptr};

const Table* best_table() noexcept {
  const Table* best = nullptr;
  for (const Candidate& candidate : candidates)
    if (candidate.available()) best = candidate.table;
  return best;
}

// Two threads that come first at once find the same table.
const Table& selected_table() noexcept {
  const Table* table = selected.load(std::memory_order_acquire);
  if (table == nullptr) {
    table = best_table();
    selected.store(table, std::memory_order_release);
  }
  return *table;
}

[[noreturn]] void refuse(std::string_view isa) {
  std::string message = "instruction set '" + std::string(isa) + "' is not available; available are: auto";
  for (const std::string_view available : available_isas()) message += ", " + std::string(available);
  throw Error(message);
}

}  // namespace

ReduceFn find(OpKind op, ElementType type) noexcept {
  if (op >= OpKind::none || type >= ElementType::none) return nullptr;
  return selected_table().functions[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
}

void select(std::string_view isa) {
  if (isa.empty() || isa == "auto") {
    selected.store(best_table(), std::memory_order_release);
    return;
  }
  for (const Candidate& candidate : candidates) {
    if (isa != candidate.table->isa || !candidate.available()) continue;
    selected.store(candidate.table, std::memory_order_release);
    return;
  }
  refuse(isa);
}

std::string_view selected_isa() noexcept {
  return selected_table().isa;
}

std::vector<std::string_view> available_isas() {
  std::vector<std::string_view> isas;
  for (const Candidate& candidate : candidates)
    if (candidate.available()) isas.emplace_back(candidate.table->isa);
  return isas;
}

}  // namespace hocket::kernels
