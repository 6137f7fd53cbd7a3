#include "sharp/terms.hpp"

#include <algorithm>
#include <climits>

#include "sharp/element_types.hpp"

namespace hocket::sharp {
namespace {

std::uint32_t limited(std::uint32_t granted, std::uint32_t limit) noexcept {
  return limit == 0 ? granted : std::min(granted, limit);
}

/// Infinity is 0.
std::uint32_t smaller_batch(std::uint32_t one, std::uint32_t other) noexcept {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

int as_int(std::uint32_t number) noexcept {
  return static_cast<int>(std::min<std::uint32_t>(number, INT_MAX));
}

Terms of_both(Terms one, const Terms& other) noexcept {
  if (one.error == SHARP_COLL_SUCCESS) one.error = other.error;
  if (one.error == SHARP_COLL_SUCCESS && one.trees != other.trees) one.error = SHARP_COLL_ETREE_INFO;
  one.most_groups = std::min(one.most_groups, other.most_groups);
  one.most_operations = std::min(one.most_operations, other.most_operations);
  one.operations_per_group = std::min(one.operations_per_group, other.operations_per_group);
  one.payload = std::min(one.payload, other.payload);
  one.streams = std::min(one.streams, other.streams);
  one.locks_at_once = std::max(one.locks_at_once, other.locks_at_once);
  one.lock_batch = smaller_batch(one.lock_batch, other.lock_batch);
  one.streaming_from = std::max(one.streaming_from, other.streaming_from);
  return one;
}

}  // namespace

Terms Terms::of(const Settings& settings, std::span<const wire::Welcome> welcomes) noexcept {
  Terms terms;
  terms.trees = static_cast<std::uint32_t>(welcomes.size());
  terms.operations_per_group = terms.payload = UINT32_MAX;
  terms.streams = settings.streams ? 1 : 0;
  for (const wire::Welcome& welcome : welcomes) {
    terms.most_groups += welcome.most_groups;
    terms.most_operations += welcome.most_operations;
    terms.operations_per_group = std::min(terms.operations_per_group, welcome.operations_per_group);
    terms.payload = std::min(terms.payload, welcome.payload_per_operation);
    terms.streams = std::min(terms.streams, welcome.can_stream);
  }
  terms.most_groups = limited(terms.most_groups, settings.most_groups);
  terms.most_operations = limited(terms.most_operations, settings.most_operations);
  terms.operations_per_group =
      std::min(limited(terms.operations_per_group, settings.operations_per_group), terms.most_operations);
  terms.payload = limited(terms.payload, settings.payload);
  terms.locks_at_once = settings.locks_at_once ? 1 : 0;
  terms.lock_batch = settings.lock_batch;
  terms.streaming_from = settings.streaming_from;
  return terms;
}

Terms Terms::of_all(std::span<const Terms> ranks) noexcept {
  Terms agreed = ranks.front();
  for (const Terms& one : ranks.subspan(1)) agreed = of_both(agreed, one);
  return agreed;
}

bool Terms::are_kept_by(const wire::Welcome& welcome) const noexcept {
  return welcome.payload_per_operation >= payload && welcome.operations_per_group >= operations_per_group &&
         (welcome.can_stream != 0 || streams == 0);
}

sharp_coll_caps capabilities(const Terms& terms) noexcept {
  sharp_coll_caps caps{};
  caps.support_mask.dtypes = all_types();
  caps.support_mask.tag_dtypes = all_tag_types();
  caps.support_mask.reduce_ops = all_operations();
  caps.support_mask.feature_mask = SHARP_FEATURE_LLT | SHARP_FEATURE_REPRODUCIBLE;
  if (terms.streams != 0)
    caps.support_mask.feature_mask |= SHARP_FEATURE_SAT | SHARP_FEATURE_SAT_EXCLUSIVE_LOCK;
  caps.resources.max_osts = as_int(terms.most_operations);
  caps.resources.user_data_per_ost = as_int(terms.payload);
  caps.resources.max_groups = as_int(terms.most_groups);
  caps.resources.max_group_channels = 1;
  caps.resources.osts_per_group = as_int(terms.operations_per_group);
  return caps;
}

}  // namespace hocket::sharp
