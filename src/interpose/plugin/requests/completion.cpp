// Waits and tests. Those that include what Hocket runs are answered by Hocket (own_completion.hpp). In all
// others Hocket's operations go on, while there are any: a wait is a loop of tests then, so that the MPI
// never waits for what only Hocket can complete on another rank.
#include "interpose/plugin/requests/completion.hpp"

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/requests/own_completion.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

int wait_with_progress(MPI_Request* request, MPI_Status* status) {
  return wait_by_tests([&](int* done) { return host().Test(request, done, status); },
                       [&] { return host().Wait(request, status); });
}

namespace {

void progress_before_test() {
  if (is_anything_under_way()) [[unlikely]]
    progress();
}

int wait(MPI_Request* request, MPI_Status* status) {
  if (Request* ours = request ? find_started(*request) : nullptr) [[unlikely]]
    return own::wait(*ours, request, status);
  return wait_with_progress(request, status);
}

int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::wait_all(count, requests, statuses);
  return wait_by_tests([&](int* done) { return host().Testall(count, requests, done, statuses); },
                       [&] { return host().Waitall(count, requests, statuses); });
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::wait_any(count, requests, index, status);
  return wait_by_tests([&](int* done) { return host().Testany(count, requests, index, done, status); },
                       [&] { return host().Waitany(count, requests, index, status); });
}

// Testsome says how many; that there is none to wait for ends the wait too.
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::wait_some(count, requests, completed, indices, statuses);
  return wait_by_tests(
      [&](int* done) {
        const int code = host().Testsome(count, requests, completed, indices, statuses);
        *done = *completed != 0;
        return code;
      },
      [&] { return host().Waitsome(count, requests, completed, indices, statuses); });
}

int test(MPI_Request* request, int* done, MPI_Status* status) {
  if (Request* ours = request ? find_active(*request) : nullptr) [[unlikely]]
    return own::test(*ours, request, done, status);
  progress_before_test();
  return host().Test(request, done, status);
}

int test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::test_all(count, requests, done, statuses);
  progress_before_test();
  return host().Testall(count, requests, done, statuses);
}

int test_any(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::test_any(count, requests, index, done, status);
  progress_before_test();
  return host().Testany(count, requests, index, done, status);
}

int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::test_some(count, requests, completed, indices, statuses);
  progress_before_test();
  return host().Testsome(count, requests, completed, indices, statuses);
}

int request_get_status(MPI_Request request, int* done, MPI_Status* status) {
  if (find_active(request)) [[unlikely]]
    return own::get_status(request, done, status);
  progress_before_test();
  return host().Request_get_status(request, done, status);
}

int request_get_status_all(int count, const MPI_Request* requests, int* done, MPI_Status* statuses) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::get_status_all(count, requests, done, statuses);
  progress_before_test();
  return host().Request_get_status_all(count, requests, done, statuses);
}

int request_get_status_any(int count, const MPI_Request* requests, int* index, int* done,
                           MPI_Status* status) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::get_status_any(count, requests, index, done, status);
  progress_before_test();
  return host().Request_get_status_any(count, requests, index, done, status);
}

int request_get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                            MPI_Status* statuses) {
  if (own::includes_active(count, requests)) [[unlikely]]
    return own::get_status_some(count, requests, completed, indices, statuses);
  progress_before_test();
  return host().Request_get_status_some(count, requests, completed, indices, statuses);
}

// MPI forbids to cancel a collective, and the MPI has a receive here.
int cancel(MPI_Request* request) {
  return request && find_own(*request) ? refuse_request() : host().Cancel(request);
}

// It goes on with nothing that is under way, as MPICH's own does not.
int request_is_complete(MPI_Request request) {
  const Request* ours = find_active(request);
  return ours ? ours->is_over() : host().Request_is_complete(request);
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
  install(own, HOCKET_CALL_Cancel, &cancel);
  install_get_status_of_many(own);
  if (host().Request_is_complete) install(own, HOCKET_CALL_X_Request_is_complete, &request_is_complete);
}

}  // namespace hocket::interpose
