#include "engine/size_samples.hpp"

#include <algorithm>
#include <bit>

namespace hocket::engine {

namespace {

constexpr std::uint32_t calls_per_sample = 16;
// So each sample is read before the next one is left. Who leaves a sample has read the one before it, and
// thus knows that all have begun the call before which they read the last but one: its place is free.
static_assert(calls_per_sample >= transports::shm::Notice::most_calls);
static_assert(transports::shm::size_samples >= 2);

std::size_t index_of(Function f) {
  return f == Function::gatherv ? 0 : f == Function::scatterv ? 1 : 2;
}

/// Of a block of this rank: its own one, or the mean of what it sends.
std::size_t own_block(const Call& call, Rank ranks) {
  if (call.function != Function::alltoallv) return call.own_bytes;
  std::size_t sum = 0;
  for (Rank r = 0; r < ranks; ++r) sum += call.input_blocks.size_of(static_cast<std::size_t>(r));
  return sum / static_cast<std::size_t>(ranks);
}

}  // namespace

std::size_t SizeSamples::agreed_before(const Call& call) noexcept {
  const std::size_t function = index_of(call.function);
  Sample& sample = samples_[function];
  if (sample.pending && sample.left.is_due(channel_)) read(sample, function);
  if (sample.calls++ % calls_per_sample == 0) leave(sample, function, own_block(call, channel_.ranks()));
  return sample.agreed;
}

void SizeSamples::leave(Sample& sample, std::size_t function, std::size_t bytes) noexcept {
  sample.slot = (sample.slot + 1) % transports::shm::size_samples;
  const auto power = static_cast<std::uint8_t>(std::countr_zero(std::bit_ceil(bytes)));
  channel_.area_of(channel_.rank())
      .size_powers[function][sample.slot]
      .store(power, std::memory_order_release);
  sample.left.give(channel_);
  sample.pending = true;
}

void SizeSamples::read(Sample& sample, std::size_t function) noexcept {
  sample.pending = false;
  if (!sample.left.given_by_all(channel_)) return;
  std::uint8_t most = 0;
  for (Rank r = 0; r < channel_.ranks(); ++r)
    most = std::max(most,
                    channel_.area_of(r).size_powers[function][sample.slot].load(std::memory_order_acquire));
  sample.agreed = std::size_t{1} << most;
}

}  // namespace hocket::engine
