#include "switch/wire/words.hpp"

#include <algorithm>

namespace hocket::wire {

std::string_view words_of(Error error) noexcept {
  switch (error) {
    case Error::none:
      return "no error";
    case Error::general:
      break;
    case Error::not_supported:
      return "not supported";
    case Error::no_memory:
      return "no memory is left";
    case Error::group_refused:
      return "no group is left";
    case Error::no_tree:
      return "the switch above is not reached";
    case Error::join_refused:
      return "not all members have joined";
    case Error::quota:
      return "the job's outstanding operations are used up";
    case Error::invalid:
      return "invalid";
    case Error::job_refused:
      return "no more jobs are served";
    case Error::lock_taken:
      return "another job streams";
    case Error::lock_denied:
      return "this tree does not stream";
    case Error::no_resource:
      return "no port is left";
  }
  return "an error";
}

Failure failure_of(Error error, std::string_view words) noexcept {
  Failure failure{error, {}};
  words.substr(0, failure.words.size() - 1).copy(failure.words.data(), failure.words.size() - 1);
  return failure;
}

std::string words_in(const Failure& failure) {
  std::string words(failure.words.begin(), std::ranges::find(failure.words, '\0'));
  std::ranges::replace_if(words, [](char one) { return one < ' ' || one > '~'; }, '?');
  return words;
}

}  // namespace hocket::wire
