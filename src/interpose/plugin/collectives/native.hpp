// Calls of the MPI's own collectives. A large-count form that this MPI lacks (Open MPI 4 and 5 have none) is
// narrowed to int where its counts fit, and is an MPI_ERR_COUNT where they do not.
#pragma once

#include <climits>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"

namespace hocket::interpose {

/// Length of count arrays on a communicator: ranks of the other side of an intercommunicator.
int array_length(MPI_Comm comm);
bool is_array_owner(int root, MPI_Comm comm);

namespace narrowing {

// One argument on its way from the large-count form (A) to the int form (P).
template <class P, class A>
struct Argument {
  P value;
  Argument(A a, int) : value(a) {}
  bool fits() const { return true; }
};

template <class A>
  requires(std::is_integral_v<A> && !std::is_same_v<A, int> && (sizeof(A) > sizeof(int)))
struct Argument<int, A> {
  int value;
  bool fitting;
  Argument(A a, int) : value(static_cast<int>(a)), fitting(a >= INT_MIN && a <= INT_MAX) {}
  bool fits() const { return fitting; }
};

template <class A>
  requires(sizeof(A) > sizeof(int))
struct Argument<const int*, const A*> {
  std::vector<int> values;
  const int* value = nullptr;
  bool fitting = true;
  Argument(const A* array, int length) {
    if (!array) return;
    for (int i = 0; i < length; ++i) {
      fitting = fitting && array[i] >= INT_MIN && array[i] <= INT_MAX;
      values.push_back(static_cast<int>(array[i]));
    }
    value = values.data();
  }
  bool fits() const { return fitting; }
};

template <class... P, class... A, std::size_t... I>
int call(int (*small)(P...), std::index_sequence<I...>, A... arguments) {
  const MPI_Comm comm = std::get<sizeof...(A) - 1>(std::tie(arguments...));
  const int length = array_length(comm);
  std::tuple<Argument<P, A>...> narrow{Argument<P, A>(arguments, length)...};
  if (!(std::get<I>(narrow).fits() && ...)) return raise_class(comm, MPI_ERR_COUNT);
  return small(std::get<I>(narrow).value...);
}

}  // namespace narrowing

template <class N, class Small, class Large, class... A>
int call_native(Small small, Large large, A... arguments) {
  if constexpr (std::is_same_v<N, int>) {
    return small(arguments...);
  } else {
    if (large) return large(arguments...);
    try {
      return narrowing::call(small, std::index_sequence_for<A...>{}, arguments...);
    } catch (const std::bad_alloc&) {
      return raise_class(std::get<sizeof...(A) - 1>(std::tie(arguments...)), MPI_ERR_NO_MEM);
    }
  }
}

/// Count arrays that only the root has: elsewhere they may be anything, so that narrowing must not read them.
template <class N, class T>
const T* at_root(const T* array, int root, MPI_Comm comm) {
  if constexpr (std::is_same_v<N, int>)
    return array;
  else
    return is_array_owner(root, comm) ? array : nullptr;
}

}  // namespace hocket::interpose

/// A lambda that makes the MPI's own call, for a template over N.
#define HOCKET_NATIVE(name, ...) \
  [&] { return call_native<N>(host().small.name, host().large.name, __VA_ARGS__); }
