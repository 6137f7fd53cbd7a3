#include "engine/handover/word.hpp"

namespace hocket::engine::handover {

void Word::take() {
  number_ = client_.take_completion();
  if (number_) return;
  own_ = std::make_unique<Own>(std::uint8_t{0});
  number_ = most_under_way + client_.next_number();
}

void Word::give_back() noexcept {
  if (*this && !own_) client_.give_back(number());
  number_.reset();
  own_.reset();
}

void Word::lose() noexcept {
  number_.reset();
  [[maybe_unused]] const auto* const lost = own_.release();
}

}  // namespace hocket::engine::handover
