// Waits and tests: while something of Hocket's is under way, a wait is a loop of tests, in which it goes on.
// So the MPI never waits for a request that only Hocket can complete, and MPICH's MPI_Waitall never meets an
// incomplete generalized request, which it does not survive beside an MPI_REQUEST_NULL.
#include "interpose/plugin/requests/completion.hpp"

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/requests/failures.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "interpose/plugin/requests/persistent_completion.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

namespace {

// Each function of the MPI, with the errors of operations that have failed. Between the look for them and the
// MPI's function none may fail: its progress engine does not come back to Hocket.

int plain_test(MPI_Request* request, int* done, MPI_Status* status) {
  const WithoutHook none_fails;
  if (!is_any_request_failed()) [[likely]]
    return host().Test(request, done, status);
  const int own = failure_of(*request);
  const int code = host().Test(request, done, status);
  return code == MPI_SUCCESS && *done ? own : code;
}

int plain_test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const WithoutHook none_fails;
  if (!is_any_request_failed()) [[likely]]
    return host().Testall(count, requests, done, statuses);
  const Failures failures(count, requests);
  const int code = host().Testall(count, requests, done, statuses);
  return code == MPI_SUCCESS && *done ? failures.in_all(statuses) : code;
}

int plain_test_any(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  const WithoutHook none_fails;
  if (!is_any_request_failed()) [[likely]]
    return host().Testany(count, requests, index, done, status);
  const Failures failures(count, requests);
  const int code = host().Testany(count, requests, index, done, status);
  return code == MPI_SUCCESS && *done && *index != MPI_UNDEFINED ? failures.of(*index) : code;
}

int plain_test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  const WithoutHook none_fails;
  if (!is_any_request_failed()) [[likely]]
    return host().Testsome(count, requests, completed, indices, statuses);
  const Failures failures(count, requests);
  const int code = host().Testsome(count, requests, completed, indices, statuses);
  return code == MPI_SUCCESS && *completed > 0 ? failures.in_some(*completed, indices, statuses) : code;
}

}  // namespace

int wait_with_progress(MPI_Request* request, MPI_Status* status) {
  return wait_by_tests([&](int* done) { return plain_test(request, done, status); },
                       [&] { return host().Wait(request, status); });
}

namespace {

void progress_before_test() {
  if (is_anything_under_way()) [[unlikely]]
    progress();
}

int wait(MPI_Request* request, MPI_Status* status) {
  if (PersistentRequest* own = request ? find_active(*request) : nullptr) [[unlikely]]
    return persistent::wait(*own, *request, status);
  return wait_with_progress(request, status);
}

int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::wait_all(count, requests, statuses);
  return wait_by_tests([&](int* done) { return plain_test_all(count, requests, done, statuses); },
                       [&] { return host().Waitall(count, requests, statuses); });
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::wait_any(count, requests, index, status);
  return wait_by_tests([&](int* done) { return plain_test_any(count, requests, index, done, status); },
                       [&] { return host().Waitany(count, requests, index, status); });
}

// Testsome says how many; that there is none to wait for ends the wait too.
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::wait_some(count, requests, completed, indices, statuses);
  return wait_by_tests(
      [&](int* done) {
        const int code = plain_test_some(count, requests, completed, indices, statuses);
        *done = *completed != 0;
        return code;
      },
      [&] { return host().Waitsome(count, requests, completed, indices, statuses); });
}

int test(MPI_Request* request, int* done, MPI_Status* status) {
  if (PersistentRequest* own = request ? find_active(*request) : nullptr) [[unlikely]]
    return persistent::test(*own, *request, done, status);
  progress_before_test();
  return plain_test(request, done, status);
}

int test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::test_all(count, requests, done, statuses);
  progress_before_test();
  return plain_test_all(count, requests, done, statuses);
}

int test_any(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::test_any(count, requests, index, done, status);
  progress_before_test();
  return plain_test_any(count, requests, index, done, status);
}

int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::test_some(count, requests, completed, indices, statuses);
  progress_before_test();
  return plain_test_some(count, requests, completed, indices, statuses);
}

int request_get_status(MPI_Request request, int* done, MPI_Status* status) {
  if (PersistentRequest* own = find_active(request)) [[unlikely]]
    return persistent::get_status(*own, request, done, status);
  progress_before_test();
  return host().Request_get_status(request, done, status);
}

int request_get_status_all(int count, const MPI_Request* requests, int* done, MPI_Status* statuses) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::get_status_all(count, requests, done, statuses);
  progress_before_test();
  return host().Request_get_status_all(count, requests, done, statuses);
}

int request_get_status_any(int count, const MPI_Request* requests, int* index, int* done,
                           MPI_Status* status) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::get_status_any(count, requests, index, done, status);
  progress_before_test();
  return host().Request_get_status_any(count, requests, index, done, status);
}

int request_get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                            MPI_Status* statuses) {
  if (persistent::includes_active(count, requests)) [[unlikely]]
    return persistent::get_status_some(count, requests, completed, indices, statuses);
  progress_before_test();
  return host().Request_get_status_some(count, requests, completed, indices, statuses);
}

// Of MPI 4.1.
void install_get_status_of_many(void** own) {
  if (!host().Request_get_status_all) return;
  install(own, HOCKET_CALL_Request_get_status_all, &request_get_status_all);
  install(own, HOCKET_CALL_Request_get_status_any, &request_get_status_any);
  install(own, HOCKET_CALL_Request_get_status_some, &request_get_status_some);
}

}  // namespace

void install_completion(void** own) {
  install(own, HOCKET_CALL_Wait, &wait);
  install(own, HOCKET_CALL_Waitall, &wait_all);
  install(own, HOCKET_CALL_Waitany, &wait_any);
  install(own, HOCKET_CALL_Waitsome, &wait_some);
  install(own, HOCKET_CALL_Test, &test);
  install(own, HOCKET_CALL_Testall, &test_all);
  install(own, HOCKET_CALL_Testany, &test_any);
  install(own, HOCKET_CALL_Testsome, &test_some);
  install(own, HOCKET_CALL_Request_get_status, &request_get_status);
  install_get_status_of_many(own);
}

}  // namespace hocket::interpose
