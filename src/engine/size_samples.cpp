#include "engine/size_samples.hpp"

#include <algorithm>
#include <bit>

namespace hocket::engine {

using transports::shm::Channel;

namespace {

constexpr std::uint32_t calls_per_sample = 32;
constexpr std::uint32_t calls_until_told = 8;
static_assert(calls_until_told >= Channel::finish_every);
// A rank that is a full ring ahead must not overwrite what a late one still reads.
static_assert(calls_per_sample * (transports::shm::size_samples - 1) > transports::shm::ring);

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
  const std::uint32_t next = channel_.instance() + 1;
  if (sample.pending && static_cast<std::int32_t>(next - sample.told_at - calls_until_told) >= 0)
    read(sample, function);
  if (sample.calls++ % calls_per_sample == 0) leave(sample, function, own_block(call, channel_.ranks()));
  return sample.agreed;
}

void SizeSamples::leave(Sample& sample, std::size_t function, std::size_t bytes) noexcept {
  sample.slot = (sample.slot + 1) % transports::shm::size_samples;
  sample.told_at = channel_.instance() + 1;
  sample.pending = true;
  channel_.area_of(channel_.rank()).sizes[function][sample.slot].store(bytes, std::memory_order_release);
}

void SizeSamples::read(Sample& sample, std::size_t function) noexcept {
  sample.pending = false;
  if (channel_.all_finished(sample.told_at) != Status::ok)
    return;  // the communicator has failed, as the call will find
  std::size_t most = 0;
  for (Rank r = 0; r < channel_.ranks(); ++r)
    most = std::max<std::size_t>(
        most, channel_.area_of(r).sizes[function][sample.slot].load(std::memory_order_acquire));
  sample.agreed = std::bit_ceil(most);
}

}  // namespace hocket::engine
