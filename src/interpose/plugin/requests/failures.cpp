#include "interpose/plugin/requests/failures.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace hocket::interpose {

std::atomic<std::uint32_t> failed_requests{0};

namespace {

struct Failure {
  MPI_Request request;
  int code;
};

// Never destroyed, as all tables that calls of MPI use.
struct Table {
  std::mutex mutex;
  std::vector<Failure> failures;
};
Table& table = *new Table;

}  // namespace

void remember_failure(MPI_Request request, int code) noexcept {
  const std::lock_guard lock(table.mutex);
  try {
    table.failures.push_back({request, code});
    ++failed_requests;
  } catch (const std::bad_alloc&) {  // it has been raised all the same
  }
}

void forget_failure(MPI_Request request) noexcept {
  const std::lock_guard lock(table.mutex);
  failed_requests -= static_cast<std::uint32_t>(
      std::erase_if(table.failures, [&](const Failure& f) { return f.request == request; }));
}

int failure_of(MPI_Request request) noexcept {
  const std::lock_guard lock(table.mutex);
  const auto found = std::ranges::find(table.failures, request, &Failure::request);
  return found == table.failures.end() ? MPI_SUCCESS : found->code;
}

Failures::Failures(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i) codes_.push_back(failure_of(requests[i]));
}

int Failures::in_all(MPI_Status* statuses) const {
  std::vector<int> places(codes_.size());
  std::iota(places.begin(), places.end(), 0);
  return in_some(static_cast<int>(places.size()), places.data(), statuses);
}

int Failures::in_some(int completed, const int* indices, MPI_Status* statuses) const {
  bool any = false;
  for (int i = 0; i < completed; ++i) any = any || of(indices[i]) != MPI_SUCCESS;
  if (!any) return MPI_SUCCESS;
  for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < completed; ++i)
    statuses[i].MPI_ERROR = of(indices[i]);
  return MPI_ERR_IN_STATUS;
}

}  // namespace hocket::interpose
