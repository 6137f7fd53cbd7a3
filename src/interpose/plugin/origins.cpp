#include "interpose/plugin/origins.hpp"

#include <map>
#include <mutex>

#include "interpose/plugin/world_groups.hpp"

namespace hocket::interpose {

// Mixing step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
OriginHash& OriginHash::add(std::uint64_t x) {
  std::uint64_t z = value_ * 0x9e3779b97f4a7c15 + x + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  value_ = z ^ (z >> 31);
  return *this;
}

OriginHash& OriginHash::add(std::string_view text) {
  for (const char c : text) add(static_cast<unsigned char>(c));
  return add(text.size());
}

Origin next_child(Communicator& parent, Making making) {
  const std::uint32_t n = parent.creations.fetch_add(1, std::memory_order_relaxed);
  return OriginHash(parent.origin).add(static_cast<std::uint64_t>(making)).add(n).value();
}

Origin next_of_group(std::uint64_t seed, MPI_Group group, std::string_view tag) {
  static auto& counts = *new std::map<Origin, std::uint32_t>;
  static std::mutex mutex;
  const auto members = world_ranks(group);
  if (members.empty()) return 0;
  OriginHash hash(seed);
  for (const engine::Rank rank : members) hash.add(static_cast<std::uint64_t>(rank));
  hash.add(tag);
  const std::lock_guard lock(mutex);
  return hash.add(counts[hash.value()]++).value();
}

}  // namespace hocket::interpose
