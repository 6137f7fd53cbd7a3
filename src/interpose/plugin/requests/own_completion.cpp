#include "interpose/plugin/requests/own_completion.hpp"

#include <sched.h>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/poke.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose::own {
namespace {

// The first in the array that is active, Hocket's, and not over; null: none.
Request* first_under_way(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (auto* request = find_active(requests[i]); request && !request->is_over()) return request;
  return nullptr;
}

// Of all in the array that are active and Hocket's: whether they are over.
bool are_over(int count, const MPI_Request* requests) {
  return !first_under_way(count, requests);
}

// The first in the array that is over; -1: none.
int first_over(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (const auto* request = find_active(requests[i]); request && request->is_over()) return i;
  return -1;
}

// That of a null request.
void give_empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  int done = 0;
  host().Request_get_status(null().request, &done, status);
}

// Where the error of each request goes, if the program wants it.
void note_error(MPI_Status* statuses, int place, int code) {
  if (statuses != MPI_STATUSES_IGNORE) statuses[place].MPI_ERROR = code;
}

// Only after errors the MPI fills that member in.
void note_success(MPI_Status* statuses, int count) {
  for (int i = 0; i < count; ++i) note_error(statuses, i, MPI_SUCCESS);
}

// Progress of Hocket's and of the MPI's own requests.
void go_on() {
  progress();
  poke(nullptr);
}

int finish(Request& request, MPI_Request* handle, MPI_Status* status) {
  give_empty_status(status);
  return request.consume(handle);
}

// All of the MPI's requests are complete, with this result, and have their statuses. Those of Hocket's that
// are not over stay active: only after an error of the MPI.
int finish_all(int count, MPI_Request* requests, MPI_Status* statuses, int code) {
  bool success = code == MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    auto* request = find_active(requests[i]);
    if (!request) continue;
    const int own = request->is_over() ? request->consume(&requests[i]) : MPI_ERR_PENDING;
    if (success && own != MPI_SUCCESS) {
      success = false;
      code = MPI_ERR_IN_STATUS;
      note_success(statuses, count);
    }
    if (!success) note_error(statuses, i, own);
  }
  return code;
}

MPI_Status* at(MPI_Status* statuses, int place) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + place;
}

// Adds Hocket's to those of the MPI's that have completed: *completed is the number so far.
template <class Requests, class Take>
int add_over(int count, Requests* requests, int* completed, int* indices, MPI_Status* statuses, int code,
             Take take) {
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
  if (*completed == MPI_UNDEFINED) *completed = 0;  // none of the MPI's is active
  for (int i = 0; i < count; ++i) {
    auto* request = find_active(requests[i]);
    if (!request || !request->is_over()) continue;
    const int place = (*completed)++;
    indices[place] = i;
    give_empty_status(at(statuses, place));
    const int own = take(*request, requests[i]);
    if (own != MPI_SUCCESS && code == MPI_SUCCESS) {
      code = MPI_ERR_IN_STATUS;
      note_success(statuses, place);
    }
    if (code != MPI_SUCCESS) note_error(statuses, place, own);
  }
  return code;
}

int taken(Request& request, MPI_Request& handle) {
  return request.consume(&handle);
}
int left(const Request& request, MPI_Request) {
  return request.code();
}

// For as long as nobody else has to do anything. True: it is over. While others are under way it is one of
// them.
bool wait_aside(Request& request) {
  constexpr std::uint32_t yields = 16;
  const bool shares_core = process.engine->oversubscribed();
  const std::uint32_t turns = shares_core ? yields : transports::spins_before_yield;
  for (std::uint32_t turn = 0; turn < turns && !is_anything_under_way(); ++turn) {
    if (request.has_arrived() || request.advance()) {
      if (request.has_failed()) break;
      request.end_alone();
      return true;
    }
    if (shares_core) sched_yield();
  }
  join(request);
  return false;
}

}  // namespace

bool look_for_active(int count, const MPI_Request* requests) noexcept {
  for (int i = 0; requests && i < count; ++i)
    if (find_active(requests[i])) return true;
  return false;
}

// While Hocket goes on, an error handler may free what is waited for here: it is the MPI's null request then.

int test(Request& request, MPI_Request* handle, int* done, MPI_Status* status) {
  if (!request.is_over()) go_on();
  if (find_active(*handle) != &request) return host().Test(handle, done, status);
  *done = request.is_over();
  return *done ? finish(request, handle, status) : MPI_SUCCESS;
}

// Alone, it needs no progress of the MPI's but for peers that need this rank's.
int wait(Request& request, MPI_Request* handle, MPI_Status* status) {
  constexpr std::uint32_t turns_per_poke = 16;
  if (request.is_aside() && wait_aside(request)) return finish(request, handle, status);
  Pauses pauses;
  bool has_slept = false;
  for (std::uint32_t turn = 1; !request.is_over(); ++turn) {
    if (has_slept || turn % turns_per_poke == 0) poke(nullptr);
    progress_for(request);
    if (find_active(*handle) != &request) return host().Wait(handle, status);
    if (request.is_over()) break;
    has_slept = pauses.pause_for(request);
  }
  return finish(request, handle, status);
}

// The MPI is asked once only: its requests are inactive after that.
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  Pauses pauses;
  for (int rest_done = 0;;) {
    go_on();
    const int code = rest_done ? MPI_SUCCESS : host().Testall(count, requests, &rest_done, statuses);
    Request* const awaited = first_under_way(count, requests);
    if (code != MPI_SUCCESS || (rest_done && !awaited)) return finish_all(count, requests, statuses, code);
    if (rest_done)
      pauses.pause_for(*awaited);
    else
      pauses.pause();
  }
}

int test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  go_on();
  *done = 0;
  if (!are_over(count, requests)) return MPI_SUCCESS;
  const int code = host().Testall(count, requests, done, statuses);
  return *done || code != MPI_SUCCESS ? finish_all(count, requests, statuses, code) : code;
}

int test_any(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  go_on();
  const int over = first_over(count, requests);
  *done = over >= 0;
  if (*done) {
    *index = over;
    return finish(*find_active(requests[over]), &requests[over], status);
  }
  const int code = host().Testany(count, requests, index, done, status);
  if (*index == MPI_UNDEFINED) *done = 0;  // no active one but Hocket's
  return code;
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Pauses pauses;
  for (;;) {
    int done = 0;
    const int code = test_any(count, requests, index, &done, status);
    if (done || code != MPI_SUCCESS) return code;
    pauses.pause();
  }
}

int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  go_on();
  const int code = host().Testsome(count, requests, completed, indices, statuses);
  return add_over(count, requests, completed, indices, statuses, code, taken);
}

int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  Pauses pauses;
  for (;;) {
    const int code = test_some(count, requests, completed, indices, statuses);
    if (*completed != 0 || code != MPI_SUCCESS) return code;
    pauses.pause();
  }
}

int get_status(MPI_Request handle, int* done, MPI_Status* status) {
  go_on();
  const Request* request = find_active(handle);
  if (!request) return host().Request_get_status(handle, done, status);
  *done = request->is_over();
  if (*done) give_empty_status(status);
  return *done ? request->code() : MPI_SUCCESS;
}

int get_status_all(int count, const MPI_Request* requests, int* done, MPI_Status* statuses) {
  go_on();
  *done = 0;
  return are_over(count, requests) ? host().Request_get_status_all(count, requests, done, statuses)
                                   : MPI_SUCCESS;
}

int get_status_any(int count, const MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  go_on();
  const int over = first_over(count, requests);
  *done = over >= 0;
  if (*done) {
    *index = over;
    give_empty_status(status);
    return find_active(requests[over])->code();
  }
  const int code = host().Request_get_status_any(count, requests, index, done, status);
  if (*index == MPI_UNDEFINED) *done = 0;
  return code;
}

int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses) {
  go_on();
  const int code = host().Request_get_status_some(count, requests, completed, indices, statuses);
  return add_over(count, requests, completed, indices, statuses, code, left);
}

}  // namespace hocket::interpose::own
