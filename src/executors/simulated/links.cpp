#include "executors/simulated/links.hpp"

#include <algorithm>

#include "executors/simulated/symmetry.hpp"

namespace hocket::executors::simulated {

Links::Links(const Network& network, Rank ranks, Rank period) : network_(network) {
  const auto& levels = network.levels;
  while (first_link_ < levels.size() && !levels[first_link_].link) ++first_link_;
  if (first_link_ == levels.size()) return;
  group_of_ = groups_of_classes(network, ranks, period);
  free_.assign(levels.size(), std::vector<Free>(static_cast<std::size_t>(period)));
}

void Links::enter(Passage passage) {
  passage.order = entered_++;
  under_way_.push(passage);
}

std::optional<Passage> Links::next() {
  while (!under_way_.empty()) {
    Passage first = under_way_.top();
    under_way_.pop();
    do {
      if (first.passed == 2 * first.levels) return first;
      pass(first);
    } while (under_way_.empty() || !Later()(first, under_way_.top()));
    under_way_.push(first);
  }
  return std::nullopt;
}

/// The first byte waits until the link has served what came before; the last one, too, needs its time. What
/// comes in more slowly than the link could pass it on lets others of them in between.
void Links::pass(Passage& passage) {
  const std::uint32_t hop = passage.passed++;
  const bool out = hop < passage.levels;
  const std::size_t level = out ? hop : 2 * passage.levels - 1 - hop;
  if (const auto& link = network_.levels[level].link) {
    Free& free = free_[level][static_cast<std::size_t>(
        group_of_[level][static_cast<std::size_t>(out ? passage.from : passage.to)])];
    double& busy_until = out ? free.out : free.in;
    const double begin = std::max(passage.at, busy_until);
    const double service = static_cast<double>(passage.message.bytes) * link->G;
    busy_until = begin + link->g + service;
    passage.at = begin;
    passage.message.last_byte = std::max(passage.message.last_byte, begin + service);
  }
  if (passage.passed == passage.levels) {  // the way between the outermost links
    passage.at += passage.message.parameters->L;
    passage.message.last_byte += passage.message.parameters->L;
  }
  if (passage.passed == 2 * passage.levels) passage.message.first_byte = passage.at;
}

}  // namespace hocket::executors::simulated
