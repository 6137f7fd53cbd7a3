#include "engine/fingerprint.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace hocket::engine {
namespace {

std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  for (const std::string_view item : words(text, ";"))
    if (!trimmed(item).empty()) items.push_back(trimmed(item));
  return items;
}

/// Of the items that the other does not have.
std::string only_in(const std::vector<std::string_view>& one, const std::vector<std::string_view>& other) {
  std::string text;
  for (std::string_view item : one)
    if (std::find(other.begin(), other.end(), item) == other.end())
      text += (text.empty() ? "" : "; ") + std::string(item);
  return text.empty() ? "the preset" : text;
}

}  // namespace

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::string fingerprint_difference(std::string_view one, std::string_view other) {
  const auto a = items_of(one);
  const auto b = items_of(other);
  return only_in(a, b) + " against " + only_in(b, a);
}

}  // namespace hocket::engine
