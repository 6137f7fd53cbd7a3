// Text that a parser should refuse or understand: good text damaged, and words and bytes in no order.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace hocket::harness {

class DamagedText {
 public:
  /// `words` are those of the language; numbers, marks and stray bytes come from here.
  DamagedText(std::uint64_t seed, std::span<const std::string_view> words) : random_(seed), words_(words) {}

  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  /// The text after one to four changes.
  std::string damaged(std::string text) {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
    return text;
  }

  std::string nonsense() {
    std::string text;
    for (std::size_t left = below(40); left > 0; --left) text += below(4) == 0 ? byte() : word();
    return text;
  }

 private:
  std::string byte() { return std::string(1, static_cast<char>(below(256))); }

  std::string word() {
    static constexpr std::string_view common[] = {
        "0",   "1", "3",  "-1", "7", "2147483647", "4294967295", "4294967296", "18446744073709551615",
        "1e9", " ", "\n", "\t", ":", ",",          "(",          ")",          "[",
        "..",  "=", "+",  "@",  "#", "->",         "<",          "<=",         ">",
        "!"};
    const std::size_t at = below(words_.size() + std::size(common));
    return std::string(at < words_.size() ? words_[at] : common[at - words_.size()]);
  }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1), length = below(1 + below(12));
    switch (below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, word());
        break;
      case 2:
        text.insert(at, byte());
        break;
      case 3:
        text.replace(at, length, word());
        break;
      default:  // a piece from elsewhere
        text.insert(at, std::string(text, below(text.size() + 1), below(60)));
    }
  }

  std::mt19937_64 random_;
  std::span<const std::string_view> words_;
};

}  // namespace hocket::harness
