#include "ir/count.hpp"

namespace hocket::ir {

namespace {

class Counting {
 public:
  Counting(const Schedule& schedule, const std::function<std::uint64_t(std::uint32_t)>& size)
      : schedule_(schedule), size_(size) {}

  Counters run() {
    std::uint32_t i = 0;
    for (const std::uint32_t end : schedule_.rounds) {
      bool communicates = false;
      for (; i < end; ++i) communicates |= add(schedule_.ops[i]);
      counters_.rounds += communicates;
    }
    return counters_;
  }

 private:
  /// Whether the op makes its round a round of communication.
  bool add(const Op& op) {
    const auto regions = schedule_.regions_of(op);
    switch (op.code) {
      case OpCode::send:
        ++counters_.messages;
        for (const Region& r : regions) counters_.sent += size_of(r);
        return true;
      case OpCode::recv:
        for (const Region& r : regions) counters_.received += size_of(r);
        return true;
      case OpCode::copy:
      case OpCode::read:
        (op.code == OpCode::copy ? counters_.copied : counters_.received) += size_of(op.target);
        return false;
      case OpCode::reduce:
        counters_.reduced += size_of(op.target) * (regions.size() - 1);
        for (const Region& r : regions) counters_.received += r.owner == self ? 0 : size_of(r);
        return false;
      case OpCode::signal:
        ++counters_.signals;
        return false;
      case OpCode::wait:
        ++counters_.waits;
        return true;
      case OpCode::aggregate:
        for (const Region& r : regions) counters_.sent += size_of(r);
        counters_.received += size_of(op.target);
        return false;
      case OpCode::settle:
        return true;
      case OpCode::expose:
        return false;
    }
    return false;
  }

  std::uint64_t size_of(const Region& r) const {
    if (schedule_.chunks == 0) return 0;
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < r.count; ++i) sum += size_((r.first + i) % schedule_.chunks);
    return sum;
  }

  const Schedule& schedule_;
  std::function<std::uint64_t(std::uint32_t)> size_;
  Counters counters_;
};

}  // namespace

Counters count(const Schedule& schedule, const std::function<std::uint64_t(std::uint32_t)>& size) {
  return Counting(schedule, size).run();
}

Counters count(const Schedule& schedule) {
  return count(schedule, [](std::uint32_t) { return std::uint64_t{1}; });
}

}  // namespace hocket::ir
