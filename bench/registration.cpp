// What a registration cache saves: one operation on a buffer that has to be registered, with the cache and
// without, in turns. No MPI, and no network card: io_uring pins what is registered as a card's driver does,
// and writes it to a file. hocket_registration --sizes 4096,65536 --seconds 0.1
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "pinned_buffers.hpp"
#include "registration/cache.hpp"
#include "registration/userfault_watch.hpp"

namespace hocket {
namespace {

using Buffer = std::span<std::byte>;

struct Options {
  std::vector<std::size_t> sizes{4096, std::size_t{1} << 20U};
  double seconds = 0.1;  // of each side of each lane
};

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = words[i];
    if (name == "--seconds") options.seconds = std::strtod(words[i + 1], nullptr);
    if (name != "--sizes") continue;
    options.sizes.clear();
    for (char* next = words[i + 1]; *next != '\0'; next += *next == ',' ? 1 : 0)
      options.sizes.push_back(std::strtoull(next, &next, 10));
  }
  return options;
}

Buffer mapped(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error("no memory");
  std::memset(memory, 1, bytes);
  return {static_cast<std::byte*>(memory), bytes};
}

/// Where the operation writes to.
struct Target {
  const char* name;
  Descriptor file;
};

enum class Side : bool { without_cache, cache };

class Bench {
 public:
  explicit Bench(double seconds) : seconds_(seconds) {}

  void measure(std::size_t bytes) {
    const Buffer same = mapped(bytes);
    for (const Target* to : {&nothing_, &memory_})
      measure_lane("same", *to, bytes, [&](Side side) { return timed(side, same, *to); });
    munmap(same.data(), same.size());
    measure_lane("fresh", nothing_, bytes, [&](Side side) { return timed_with_fresh(side, bytes); });
  }
  bool is_valid() const { return is_valid_; }

 private:
  void operate(Side side, Buffer buffer, const Target& to) {
    if (side == Side::cache) {
      const registration::Lease lease = cache_.lease(buffer.data(), buffer.size());
      is_valid_ &= lease && device_.write(lease.handle(), buffer, to.file.number());
      return;
    }
    void* const handle = device_.register_memory(buffer.data(), buffer.size());
    is_valid_ &= handle && device_.write(handle, buffer, to.file.number());
    if (handle) device_.forget_memory(handle);
  }

  double timed(Side side, Buffer buffer, const Target& to) {
    const std::uint64_t begin = monotonic_ns();
    operate(side, buffer, to);
    return static_cast<double>(monotonic_ns() - begin) * 1e-3;
  }

  /// Of the program the time counts in which it gives the buffer back: the cache wants to know of that.
  double timed_with_fresh(Side side, std::size_t bytes) {
    const Buffer buffer = mapped(bytes);
    const std::uint64_t begin = monotonic_ns();
    operate(side, buffer, nothing_);
    munmap(buffer.data(), buffer.size());
    return static_cast<double>(monotonic_ns() - begin) * 1e-3;
  }

  void measure_lane(const char* buffers, const Target& to, std::size_t bytes,
                    const std::function<double(Side)>& time) {
    std::vector<double> times[2];
    const Deadline deadline(2 * seconds_);
    do {
      for (const Side side : {Side::without_cache, Side::cache})
        times[static_cast<std::size_t>(side)].push_back(time(side));
    } while (!deadline.passed() || times[0].size() < least_operations);
    for (const Side side : {Side::without_cache, Side::cache})
      print(buffers, to, bytes, side, times[static_cast<std::size_t>(side)]);
  }

  void print(const char* buffers, const Target& to, std::size_t bytes, Side side,
             std::vector<double>& times) const {
    std::ranges::sort(times);
    const auto quantile = [&](double q) {
      return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
    };
    JsonWriter line;
    line.begin_object().member("buffers", buffers).member("to", to.name).member("bytes", bytes);
    line.member("side", side == Side::cache ? "cache" : "without").member("operations", times.size());
    line.member("median_us", quantile(0.5)).member("p10_us", quantile(0.1)).member("p90_us", quantile(0.9));
    line.member("valid", is_valid_).end_object();
    std::puts(line.text().c_str());
  }

  static constexpr std::size_t least_operations = 11;

  const double seconds_;
  const Target nothing_{"nothing", Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC))};
  const Target memory_{"memory", Descriptor(memfd_create("target", MFD_CLOEXEC))};
  PinnedBuffers device_;
  registration::Cache cache_{device_, std::make_unique<registration::UserfaultWatch>(), {.entries = 32}};
  bool is_valid_ = true;
};

}  // namespace
}  // namespace hocket

int main(int count, char** words) {
  try {
    const hocket::Options options = hocket::options_of(count, words);
    hocket::Bench bench(options.seconds);
    for (const std::size_t bytes : options.sizes) bench.measure(bytes);
    return bench.is_valid() ? 0 : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 77;
  }
}
