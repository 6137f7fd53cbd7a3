#include "worker/view.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.hpp"

namespace hocket::worker {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 47U;
/// Moved at a time: a small part of a second, also where each page of it is new.
constexpr std::size_t piece_bytes = std::size_t{64} << 20U;

std::uint64_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

/// Runs that follow each other are one.
void View::add(std::uint64_t address, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes > most_bytes - bytes_) throw Error("buffers that no process has");
  if (!runs_.empty() && runs_.back().end() == address)
    runs_.back().bytes += bytes;
  else
    runs_.push_back({address, bytes});
  bytes_ += bytes;
}

View::View(const void* address, std::size_t bytes) : address_(number_of(address)) {
  add(number_of(address), bytes);
}

View::View(const void* address, const executors::Blocks& blocks, std::size_t ranks)
    : address_(number_of(address)) {
  offsets_.reserve(ranks);
  own_offsets_.reserve(ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    offsets_.push_back(static_cast<std::ptrdiff_t>(bytes_));
    own_offsets_.push_back(blocks.offset_of(i));
    add(number_of(address) + static_cast<std::uint64_t>(blocks.offset_of(i)), blocks.size_of(i));
  }
}

void View::map(const RankProcess& process) {
  if (runs_.empty()) return;
  RankProcess::Range range = process.range_of(runs_[0].address, runs_[0].bytes);
  const auto is_there = [&](const Run& run) { return range && range->holds(run.address, run.bytes); };
  if (!std::ranges::all_of(runs_, is_there)) return;
  std::vector<Run> sorted = runs_;
  std::ranges::sort(sorted, {}, &Run::address);
  const auto meet = [](const Run& one, const Run& next) { return next.address < one.end(); };
  if (std::ranges::adjacent_find(sorted, meet) != sorted.end()) return;
  runs_.clear();
  bytes_ = 0;
  for (const Run& run : sorted) add(run.address, run.bytes);
  offsets_ = own_offsets_;
  range_ = std::move(range);
}

bool View::holds(const std::byte* data, std::size_t bytes, std::span<const std::byte> mirror) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(is_mapped() ? range_->all().data() : mirror.data());
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  const auto is_in = [bytes](std::uint64_t place, std::uint64_t first, std::size_t all) {
    return place >= first && place - first <= all && bytes <= all - (place - first);
  };
  if (!is_mapped()) return is_in(at, begin, mirror.size());
  const std::uint64_t place = at - begin + range_->address();
  const auto next = std::ranges::upper_bound(runs_, place, {}, &Run::address);
  return next != runs_.begin() && is_in(place, std::prev(next)->address, std::prev(next)->bytes);
}

bool View::is_apart_from(const View& other) const noexcept {
  if (runs_.empty() || other.runs_.empty()) return true;
  const auto first = [](const View& view) { return std::ranges::min(view.runs_, {}, &Run::address).address; };
  const auto last = [](const View& view) { return std::ranges::max(view.runs_, {}, &Run::end).end(); };
  return last(*this) <= first(other) || last(other) <= first(*this);
}

template <class Move>
int View::move_all(std::byte* mirror, const Beat& beat, Move move) const noexcept {
  if (is_mapped()) return 0;
  for (const Run& run : runs_)
    for (std::size_t done = 0; done < run.bytes;) {
      const std::size_t bytes = std::min(run.bytes - done, piece_bytes);
      if (const int error = move(run.address + done, transports::Piece{mirror, bytes}); error != 0)
        return error;
      mirror += bytes;
      done += bytes;
      if (bytes == piece_bytes) beat();
    }
  return 0;
}

template <class Move>
int View::move_part(std::byte* mirror, executors::Segment part, Move move) const noexcept {
  if (is_mapped()) return 0;
  const std::size_t blocks = offsets_.empty() ? 1 : offsets_.size();
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = offsets_.empty() ? 0 : static_cast<std::size_t>(offsets_[i]);
    const std::size_t end = i + 1 < blocks ? static_cast<std::size_t>(offsets_[i + 1]) : bytes_;
    const std::size_t size = end - begin;
    if (size <= part.first) continue;
    const std::size_t bytes = std::min(part.length, size - part.first);
    const auto in_rank = static_cast<std::uint64_t>(offsets_.empty() ? 0 : own_offsets_[i]);
    const transports::Piece piece{mirror + begin + part.first, bytes};
    if (const int error = move(address_ + in_rank + part.first, piece); error != 0) return error;
  }
  return 0;
}

int View::probe(RankProcess& process) const noexcept {
  std::byte any{};
  if (is_mapped()) return 0;
  for (const Run& run : runs_)
    for (const std::uint64_t address : {run.address, run.address + run.bytes - 1})
      if (const int error = process.read(address, {&any, 1}); error != 0) return error;
  return 0;
}

int View::read(RankProcess& process, std::byte* mirror, const Beat& beat) const noexcept {
  return move_all(mirror, beat, [&process](std::uint64_t address, transports::Piece piece) noexcept {
    return process.read(address, piece);
  });
}

int View::write(RankProcess& process, std::byte* mirror, const Beat& beat) const noexcept {
  return move_all(mirror, beat, [&process](std::uint64_t address, transports::Piece piece) noexcept {
    return process.write(address, piece);
  });
}

int View::read(RankProcess& process, std::byte* mirror, executors::Segment part) const noexcept {
  return move_part(mirror, part, [&process](std::uint64_t address, transports::Piece piece) noexcept {
    return process.read(address, piece);
  });
}

int View::write(RankProcess& process, std::byte* mirror, executors::Segment part) const noexcept {
  return move_part(mirror, part, [&process](std::uint64_t address, transports::Piece piece) noexcept {
    return process.write(address, piece);
  });
}

}  // namespace hocket::worker
