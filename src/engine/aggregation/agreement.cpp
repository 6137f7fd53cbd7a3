#include "engine/aggregation/agreement.hpp"

namespace hocket::engine::aggregation {

void Agreement::begin(Rank members, std::size_t aggregations) {
  members_ = members;
  own_.assign(1 + (aggregations + 7) / 8, std::byte{0});
}

executors::Machine& Agreement::tell(MemberRuns& members) {
  all_.resize(static_cast<std::size_t>(members_) * own_.size());
  exchange_.collective = ir::Collective::allgather;
  exchange_.input = own_.data();
  exchange_.output = all_.data();
  exchange_.agreed_bytes = exchange_.own_bytes = exchange_.output_blocks.size = own_.size();
  return members.lay("bruck", exchange_);
}

void Agreement::assume_nothing() {
  all_.assign(static_cast<std::size_t>(members_) * own_.size(), std::byte{0});
}

bool Agreement::is_lost_anywhere() const noexcept {
  for (Rank member = 0; member < members_; ++member)
    if (row(member)[0] != std::byte{0}) return true;
  return false;
}

bool Agreement::has_ended_everywhere(std::size_t aggregation) const noexcept {
  for (Rank member = 0; member < members_; ++member)
    if (!has_ended(member, aggregation)) return false;
  return true;
}

std::optional<Rank> Agreement::first_with(std::size_t aggregation) const noexcept {
  for (Rank member = 0; member < members_; ++member)
    if (has_ended(member, aggregation)) return member;
  return std::nullopt;
}

}  // namespace hocket::engine::aggregation
