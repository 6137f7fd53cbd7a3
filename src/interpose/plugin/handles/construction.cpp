#include "interpose/plugin/handles/construction.hpp"

#include <algorithm>
#include <cstddef>

#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

struct Envelope {
  int combiner = MPI_COMBINER_NAMED;
  MPI_Count integers = 0, addresses = 0, large = 0, datatypes = 0;
};

// MPICH answers the int form only for types that were made by int forms, and calls its error handler else.
std::optional<Envelope> envelope_of(MPI_Datatype handle) {
  Envelope e;
  if (host().Type_get_envelope_c) {
    const int code =
        host().Type_get_envelope_c(handle, &e.integers, &e.addresses, &e.large, &e.datatypes, &e.combiner);
    return code == MPI_SUCCESS ? std::optional(e) : std::nullopt;
  }
  int integers = 0, addresses = 0, datatypes = 0;
  if (host().Type_get_envelope(handle, &integers, &addresses, &datatypes, &e.combiner) != MPI_SUCCESS)
    return std::nullopt;
  e.integers = integers;
  e.addresses = addresses;
  e.datatypes = datatypes;
  return e;
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& from) {
  return {from.begin(), from.end()};
}

}  // namespace

std::optional<int> combiner_of(MPI_Datatype handle) {
  const auto envelope = envelope_of(handle);
  return envelope ? std::optional(envelope->combiner) : std::nullopt;
}

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX;
}

std::optional<Construction> Construction::of(MPI_Datatype handle) {
  const auto e = envelope_of(handle);
  if (!e) return std::nullopt;
  Construction c(e->combiner);
  if (is_predefined(e->combiner) || e->datatypes == 0) return c;
  const bool read = host().Type_get_contents_c
                        ? c.read_large(handle, e->integers, e->addresses, e->large, e->datatypes)
                        : c.read(handle, static_cast<int>(e->integers), static_cast<int>(e->addresses),
                                 static_cast<int>(e->datatypes));
  if (!read) return std::nullopt;
  return c;
}

// Handles to derived parts are ours to free.
Construction::~Construction() {
  for (MPI_Datatype part : parts_)
    if (const auto combiner = combiner_of(part); combiner && !is_predefined(*combiner))
      host().Type_free(&part);
}

bool Construction::read(MPI_Datatype handle, int integers, int addresses, int datatypes) {
  std::vector<int> numbers(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> places(static_cast<std::size_t>(addresses));
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(datatypes));
  if (host().Type_get_contents(handle, integers, addresses, datatypes, numbers.data(), places.data(),
                               parts.data()) != MPI_SUCCESS)
    return false;
  integers_ = converted<MPI_Count>(numbers);
  addresses_ = converted<MPI_Count>(places);
  parts_ = std::move(parts);
  return true;
}

bool Construction::read_large(MPI_Datatype handle, MPI_Count integers, MPI_Count addresses, MPI_Count large,
                              MPI_Count datatypes) {
  std::vector<int> numbers(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> places(static_cast<std::size_t>(addresses));
  std::vector<MPI_Count> large_numbers(static_cast<std::size_t>(large));
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(datatypes));
  if (host().Type_get_contents_c(handle, integers, addresses, large, datatypes, numbers.data(), places.data(),
                                 large_numbers.data(), parts.data()) != MPI_SUCCESS)
    return false;
  integers_ = converted<MPI_Count>(numbers);
  addresses_ = converted<MPI_Count>(places);
  parts_ = std::move(parts);
  if (large > 0) sort_in(large_numbers);
  return true;
}

// A large-count constructor's counts and displacements come in one array, in the order of its arguments.
void Construction::sort_in(const std::vector<MPI_Count>& large) {
  const std::size_t counts = combiner_ == MPI_COMBINER_STRUCT    ? 1 + parts_.size()
                             : combiner_ == MPI_COMBINER_HVECTOR ? 2
                                                                 : large.size();
  const auto end_of_counts = large.begin() + static_cast<std::ptrdiff_t>(std::min(counts, large.size()));
  integers_.assign(large.begin(), end_of_counts);
  addresses_.assign(end_of_counts, large.end());
}

}  // namespace hocket::interpose
