#include "engine/handover/takeover.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "transports/mpi/network.hpp"

namespace hocket::engine::handover {

namespace {

constexpr std::size_t most_unfinished = transports::mpi::Network::longest_notice / sizeof(std::uint32_t) - 2;

/// Numbers wrap (CallSequence), long after what they are compared with.
bool comes_after(std::uint32_t one, std::uint32_t other) noexcept {
  return static_cast<std::int32_t>((one - other) << 1U) > 0;
}

}  // namespace

std::vector<std::byte> encode(const Account& account) {
  if (account.unfinished.size() > most_unfinished)
    throw Error(std::to_string(account.unfinished.size()) + " operations are under way: more than " +
                std::to_string(most_unfinished) + " are not taken over from a worker");
  std::vector<std::uint32_t> words{account.is_answer ? 1U : 0U, account.last};
  words.insert(words.end(), account.unfinished.begin(), account.unfinished.end());
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

Account decode_account(std::span<const std::byte> bytes) {
  if (bytes.size() < 2 * sizeof(std::uint32_t) || bytes.size() % sizeof(std::uint32_t) != 0)
    throw Error("what a rank has said of its operations cannot be read");
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return {words[1], {words.begin() + 2, words.end()}, words[0] != 0};
}

void Takeover::hear(std::size_t from, Account account) {
  if (from >= accounts_.size() || accounts_[from]) return;
  std::ranges::sort(account.unfinished);
  accounts_[from] = std::move(account);
  while (first_silent_ < accounts_.size() && accounts_[first_silent_]) ++first_silent_;
}

Rank Takeover::awaited() const noexcept {
  return first_silent_ == accounts_.size() ? -1 : static_cast<Rank>(first_silent_);
}

/// On one of the ranks that have started it.
bool Takeover::has_ended(std::uint32_t number) const noexcept {
  return std::ranges::any_of(accounts_, [number](const std::optional<Account>& one) {
    return one && !comes_after(number, one->last) && !std::ranges::binary_search(one->unfinished, number);
  });
}

}  // namespace hocket::engine::handover
