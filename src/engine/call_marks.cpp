#include "engine/call_marks.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engine/function_table.hpp"

namespace hocket::engine {

using transports::shm::Channel;
using transports::shm::Mark;

namespace {

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i != 0) text += ",";
    text += std::to_string(ranks[i]);
    if (last != i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

std::string_view operation_name(std::uint8_t operation) {
  constexpr std::array<std::string_view, 13> names = {
      "",         "MPI_SUM",  "MPI_PROD", "MPI_MAX",  "MPI_MIN",    "MPI_LAND",  "MPI_LOR",
      "MPI_LXOR", "MPI_BAND", "MPI_BOR",  "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
  return operation < names.size() ? names[operation] : "another operation";
}

std::string CallMark::text() const {
  std::string text = mpi_name_of(called);
  if (is_foreign(called.function) || called.function == Function::barrier) return text;
  text += "(";
  if (sizes_known(called.function)) text += std::to_string(bytes) + " bytes";
  if (root >= 0) text += (text.back() == '(' ? "root " : ", root ") + std::to_string(root);
  if (operation != 0) text += ", " + std::string(operation_name(operation));
  return text + ")";
}

namespace {

/// What a rank has left at the place of this instance: its mark, or that of an earlier or a later one.
struct Left {
  std::uint32_t instance = 0;
  CallMark mark;
};

Left left_at(Channel& channel, Rank rank, std::uint32_t instance) noexcept {
  const Mark& m = channel.area_of(rank).marks[instance % transports::shm::marks_kept];
  const std::uint64_t call = m.call.load(std::memory_order_acquire);
  return {static_cast<std::uint32_t>(call >> 32U),
          CallMark::unpacked(call, static_cast<Rank>(m.root.load(std::memory_order_relaxed)),
                             m.bytes.load(std::memory_order_relaxed))};
}

bool is_from(std::uint32_t instance, std::uint32_t first) noexcept {
  return static_cast<std::int32_t>(instance - first) >= 0;
}

std::uint32_t last_of(Channel& channel, Rank rank) noexcept {
  std::uint32_t last = left_at(channel, rank, 0).instance;
  for (std::uint32_t i = 1; i < transports::shm::marks_kept; ++i)
    if (const Left left = left_at(channel, rank, i); is_from(left.instance, last)) last = left.instance;
  return last;
}

}  // namespace

std::optional<CallMark> MarkedCalls::of(Rank rank, std::uint32_t call) const noexcept {
  const Left left = left_at(*channel_, rank, call);
  return left.instance == call ? left.mark : instead_of(rank, call);
}

/// Calls on the two channels are in one order: who has made one there that this rank has not, though this
/// rank has made this one here, has to make this one first. So the order of these looks matters.
std::optional<CallMark> MarkedCalls::instead_of(Rank rank, std::uint32_t call) const noexcept {
  if (!beside_) return std::nullopt;
  const std::uint32_t next = last_of(*beside_, channel_->rank()) + 1;
  const Left there = left_at(*beside_, rank, next);
  if (!is_from(there.instance, next)) return std::nullopt;
  return is_from(left_at(*channel_, rank, call).instance, call) ? std::nullopt : std::optional(there.mark);
}

bool MarkedCalls::differ(Rank peer) const noexcept {
  const std::uint32_t call = channel_->instance();
  const std::optional<CallMark> ours = of(channel_->rank(), call);
  const std::optional<CallMark> theirs = of(peer, call);
  return ours && theirs && *ours != *theirs;
}

std::uint32_t MarkedCalls::first_difference(std::uint32_t call) const noexcept {
  const std::uint32_t end = channel_->instance() + 1;
  for (std::uint32_t i = call - std::min(call, transports::shm::marks_kept) + 1; i != end; ++i) {
    const std::optional<CallMark> ours = of(channel_->rank(), i);
    for (Rank r = 0; r < channel_->ranks() && ours; ++r)
      if (const std::optional<CallMark> theirs = of(r, i); theirs && *theirs != *ours) return i;
  }
  return call;
}

bool MarkedCalls::is_marked(std::uint32_t call) const noexcept {
  for (Rank r = 0; r < channel_->ranks(); ++r)
    if (left_at(*channel_, r, call).instance == call) return true;
  return false;
}

std::string MarkedCalls::describe(std::uint32_t call) const {
  std::vector<std::pair<std::string, std::vector<Rank>>> groups;
  for (Rank r = 0; r < channel_->ranks(); ++r) {
    const std::optional<CallMark> mark = of(r, call);
    const std::string what =
        !mark ? "not there yet" : mark->text() + (mark->native ? " (run by the MPI)" : "");
    auto group = groups.begin();
    while (group != groups.end() && group->first != what) ++group;
    if (group == groups.end()) group = groups.insert(groups.end(), {what, {}});
    group->second.push_back(r);
  }
  std::string text;
  for (const auto& [what, ranks] : groups) {
    if (!text.empty()) text += "; ";
    text += ranks_text(ranks) + ": " + what;
  }
  return text;
}

}  // namespace hocket::engine
