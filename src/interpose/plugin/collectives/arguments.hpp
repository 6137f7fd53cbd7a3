// A collective's arguments end in the communicator. The forms that take more after it are described by what
// comes before it.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

namespace hocket::interpose {

/// use(communicator, the arguments before it...)
template <class Use, class... A>
int communicator_first(Use use, A... arguments) {
  const std::tuple<A...> all(arguments...);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return use(std::get<sizeof...(I)>(all), std::get<I>(all)...);
  }(std::make_index_sequence<sizeof...(A) - 1>{});
}

}  // namespace hocket::interpose
