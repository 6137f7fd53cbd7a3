#include "engine/aggregation/in_network.hpp"

#include <algorithm>
#include <optional>

#include "base/clock.hpp"
#include "engine/aggregation/reductions.hpp"

namespace hocket::engine::aggregation {

namespace {

/// Nothing: not for the network.
std::optional<offload::Aggregation> offloaded(Started& started, bool for_all) noexcept {
  const executors::Aggregation& what = started.what;
  const auto kind = kind_of(what.kind);
  if (!kind) return std::nullopt;
  offload::Aggregation found;
  found.kind = *kind;
  found.root = static_cast<int>(std::max(started.root, ir::Rank{0}));
  found.source = what.source;
  found.target = what.target;
  found.bytes = what.bytes;
  if (for_all && what.kind == ir::Collective::reduce) {
    found.kind = offload::Kind::allreduce;
    found.target = started.result(false).data();
  }
  if (what.reduction) {
    found.type = type_of(what.reduction->element_type);
    found.op = op_of(what.reduction->operation);
  }
  return found;
}

}  // namespace

void InNetwork::begin(LeaderGroup& group, std::uint64_t patience_ns) noexcept {
  group_ = &group;
  patience_ns_ = patience_ns;
  waits_since_ns_ = 0;
}

Status InNetwork::post(Started& started, bool for_all) noexcept {
  offload::Group* const network = group_->network();
  const auto what = offloaded(started, for_all);
  if (!network || !what) return Status::failed;
  const Status status = network->post(*what, started.request);
  started.is_pending = status == Status::pending;
  return status;
}

Status InNetwork::look(Started& started) noexcept {
  const Status status = group_->network()->test(started.request);
  started.is_pending = status == Status::pending;
  return status;
}

transports::Blocker InNetwork::blocker() const noexcept {
  const offload::Group* const network = group_->network();
  const pollfd alarm = network ? network->alarm() : pollfd{-1, 0, 0};
  return {.descriptor = alarm.fd, .events = alarm.events};
}

bool InNetwork::is_out_of_patience(bool is_any_pending, bool has_any_ended) noexcept {
  if (!is_any_pending || has_any_ended) waits_since_ns_ = 0;
  if (!is_any_pending || patience_ns_ == 0) return false;
  const std::uint64_t now = monotonic_ns();
  if (waits_since_ns_ == 0) waits_since_ns_ = now;
  return now - waits_since_ns_ > patience_ns_;
}

void InNetwork::lose(std::span<const std::unique_ptr<Started>> all) noexcept {
  offload::Group* const network = group_->network();
  if (!network) return;
  for (const auto& started : all) started->is_pending = false;
  try {
    group_->lose(network->is_broken() ? network->words() : "it does not answer");
  } catch (...) {
    group_->lose("");
  }
}

}  // namespace hocket::engine::aggregation
