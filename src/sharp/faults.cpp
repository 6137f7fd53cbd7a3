#include "sharp/faults.hpp"

#include <string>

#include "base/text.hpp"
#include "sharp/number.hpp"
#include "sharp/refusal.hpp"

namespace hocket::sharp {
namespace {

[[noreturn]] void refuse(std::string_view word) {
  throw Refusal(SHARP_COLL_EINVAL, "HOCKET_SHARP_FAULTS: not a fault: " + std::string(word));
}

std::uint32_t number_of(std::string_view digits, std::string_view word) {
  const std::optional<std::uint32_t> number = number_in(digits);
  if (!number) refuse(word);
  return *number;
}

void add(Faults& faults, std::string_view fault, std::string_view word) {
  const std::size_t equals = fault.find('=');
  const std::string_view name = fault.substr(0, equals);
  if (equals != fault.npos) {
    const std::uint32_t number = number_of(fault.substr(equals + 1), word);
    if (name == "delay")
      faults.delay_ms = number;
    else if (name == "disconnect")
      faults.disconnect_after = number;
    else
      refuse(word);
  } else if (name == "job") {
    faults.job = true;
  } else if (name == "group") {
    faults.group = true;
  } else if (name == "quota") {
    faults.quota = true;
  } else if (name == "lock") {
    faults.lock = true;
  } else {
    refuse(word);
  }
}

}  // namespace

Faults faults_in(std::string_view text, int world_rank) {
  Faults faults, of_others;
  for (const std::string_view word : words(text, ", ")) {
    const std::size_t colon = word.find(':');
    const bool is_own = colon == word.npos ||
                        number_of(word.substr(colon + 1), word) == static_cast<std::uint32_t>(world_rank);
    add(is_own ? faults : of_others, word.substr(0, colon), word);
  }
  return faults;
}

}  // namespace hocket::sharp
