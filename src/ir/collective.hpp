// The shapes of collective communication. A v-form (allgatherv, ...) is the same shape with unequal blocks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket::ir {

using Rank = std::int32_t;

enum class Collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce_scatter,
  scan,
  exscan,
};

inline constexpr std::size_t collective_count = 11;

inline constexpr std::array<std::string_view, collective_count> collective_names = {
    "barrier",   "bcast",    "reduce",         "allreduce", "gather", "scatter",
    "allgather", "alltoall", "reduce_scatter", "scan",      "exscan"};

constexpr std::string_view name_of(Collective c) {
  return collective_names[static_cast<std::size_t>(c)];
}

constexpr std::optional<Collective> collective_named(std::string_view name) {
  for (std::size_t i = 0; i < collective_count; ++i)
    if (collective_names[i] == name) return static_cast<Collective>(i);
  return std::nullopt;
}

/// One vector, the same length on all ranks, cut into chunks as the algorithm likes.
constexpr bool is_vector(Collective c) {
  return c == Collective::bcast || c == Collective::reduce || c == Collective::allreduce ||
         c == Collective::scan || c == Collective::exscan;
}

/// One block per rank: chunk i is rank i's part.
constexpr bool is_blocks(Collective c) {
  return c != Collective::barrier && !is_vector(c);
}

constexpr bool is_rooted(Collective c) {
  return c == Collective::bcast || c == Collective::reduce || c == Collective::gather ||
         c == Collective::scatter;
}

constexpr bool is_reduction(Collective c) {
  return c == Collective::reduce || c == Collective::allreduce || c == Collective::reduce_scatter ||
         c == Collective::scan || c == Collective::exscan;
}

}  // namespace hocket::ir
