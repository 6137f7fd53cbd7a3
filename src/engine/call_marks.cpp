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
  std::string text{mpi_name_of(function)};
  if (is_foreign(function) || function == Function::barrier) return text;
  text += "(";
  if (sizes_known(function)) text += std::to_string(bytes) + " bytes";
  if (root >= 0) text += (text.back() == '(' ? "root " : ", root ") + std::to_string(root);
  if (operation != 0) text += ", " + std::string(operation_name(operation));
  return text + ")";
}

std::optional<CallMark> mark_of(Channel& channel, Rank rank, std::uint32_t instance) noexcept {
  const Mark& m = channel.area_of(rank).marks[instance % transports::shm::marks_kept];
  const std::uint64_t call = m.call.load(std::memory_order_acquire);
  if (call >> 32U != instance) return std::nullopt;
  return CallMark::unpacked(call, static_cast<Rank>(m.root.load(std::memory_order_relaxed)),
                            m.bytes.load(std::memory_order_relaxed));
}

std::uint32_t first_difference(Channel& channel, std::uint32_t instance) noexcept {
  const std::uint32_t kept = std::min(instance, transports::shm::marks_kept);
  for (std::uint32_t i = instance - kept + 1; i != instance; ++i) {
    const std::optional<CallMark> ours = mark_of(channel, channel.rank(), i);
    for (Rank r = 0; r < channel.ranks() && ours; ++r)
      if (const std::optional<CallMark> theirs = mark_of(channel, r, i); theirs && *theirs != *ours) return i;
  }
  return instance;
}

std::string describe_instance(Channel& channel, std::uint32_t instance) {
  std::vector<std::pair<std::string, std::vector<Rank>>> groups;
  for (Rank r = 0; r < channel.ranks(); ++r) {
    const std::optional<CallMark> mark = mark_of(channel, r, instance);
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
