// Waits and tests of MPI in all their forms, for tests that do not care which: the caller says what is to be
// done about each request that has completed, at once.
#pragma once

#include "check.h"

typedef void on_completion(int index, const MPI_Status* status);

// MPI 4.1
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define ASKS_ABOUT_MANY 1
#endif

// Those of Request_get_status ask again and again before a wait, which then has to return at once.
enum completion {
  by_wait,
  by_waitall,
  by_waitany,
  by_waitsome,
  by_test,
  by_testall,
  by_testany,
  by_testsome,
  by_get_status,
#ifdef ASKS_ABOUT_MANY
  by_get_status_all,
  by_get_status_any,
  by_get_status_some,
#endif
  completion_forms
};
static const char* const completion_names[] = {
    "Wait",
    "Waitall",
    "Waitany",
    "Waitsome",
    "Test",
    "Testall",
    "Testany",
    "Testsome",
    "Request_get_status",
    "Request_get_status_all",
    "Request_get_status_any",
    "Request_get_status_some",
};
enum { most_requests = 512 };

static void complete_each(int n, MPI_Request* requests, enum completion form, on_completion* completed) {
  for (int i = 0; i < n; ++i) {
    MPI_Status status;
    int done = requests[i] == MPI_REQUEST_NULL;
    if (done) continue;
    while (form == by_test && !done) MPI_Test(&requests[i], &done, &status);
    while (form == by_get_status && !done) MPI_Request_get_status(requests[i], &done, &status);
    if (form != by_test) MPI_Wait(&requests[i], &status);
    CHECK(requests[i] == MPI_REQUEST_NULL);
    completed(i, &status);
  }
}

static void complete_all(int n, MPI_Request* requests, enum completion form, on_completion* completed) {
  static MPI_Status statuses[most_requests];
  char active[most_requests];
  for (int i = 0; i < n; ++i) active[i] = requests[i] != MPI_REQUEST_NULL;
  int done = 0;
  if (form == by_waitall) MPI_Waitall(n, requests, statuses);
  while (form == by_testall && !done) MPI_Testall(n, requests, &done, statuses);
  for (int i = 0; i < n; ++i) {
    CHECK(requests[i] == MPI_REQUEST_NULL);
    if (active[i]) completed(i, &statuses[i]);
  }
}

// Each once, and then that there is none any more.
static void complete_any(int n, MPI_Request* requests, enum completion form, on_completion* completed) {
  for (;;) {
    MPI_Status status;
    int index = MPI_UNDEFINED, done = 0;
    if (form == by_waitany) MPI_Waitany(n, requests, &index, &status);
    while (form == by_testany && !done) MPI_Testany(n, requests, &index, &done, &status);
    if (index == MPI_UNDEFINED) return;
    CHECK(index >= 0 && index < n && requests[index] == MPI_REQUEST_NULL);
    completed(index, &status);
  }
}

static void complete_some(int n, MPI_Request* requests, enum completion form, on_completion* completed) {
  static MPI_Status statuses[most_requests];
  static int indices[most_requests];
  for (;;) {
    int count = 0;
    if (form == by_waitsome) MPI_Waitsome(n, requests, &count, indices, statuses);
    while (form == by_testsome && count == 0) MPI_Testsome(n, requests, &count, indices, statuses);
    if (count == MPI_UNDEFINED) return;
    CHECK(count > 0 && count <= n);
    for (int i = 0; i < count; ++i) {
      CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
      completed(indices[i], &statuses[i]);
    }
  }
}

#ifdef ASKS_ABOUT_MANY
static void ask_about_all(int n, MPI_Request* requests, on_completion* completed) {
  int done = 0;
  while (!done) MPI_Request_get_status_all(n, requests, &done, MPI_STATUSES_IGNORE);
  complete_all(n, requests, by_waitall, completed);
}

static void wait_for_one(MPI_Request* requests, int index, on_completion* completed) {
  MPI_Status status;
  MPI_Wait(&requests[index], &status);
  CHECK(requests[index] == MPI_REQUEST_NULL);
  completed(index, &status);
}

static void ask_about_any(int n, MPI_Request* requests, on_completion* completed) {
  for (;;) {
    int index = MPI_UNDEFINED, done = 0;
    while (!done) MPI_Request_get_status_any(n, requests, &index, &done, MPI_STATUS_IGNORE);
    if (index == MPI_UNDEFINED) return;
    CHECK(index >= 0 && index < n && requests[index] != MPI_REQUEST_NULL);
    wait_for_one(requests, index, completed);
  }
}

static void ask_about_some(int n, MPI_Request* requests, on_completion* completed) {
  static int indices[most_requests];
  for (;;) {
    int count = 0;
    while (count == 0) MPI_Request_get_status_some(n, requests, &count, indices, MPI_STATUSES_IGNORE);
    if (count == MPI_UNDEFINED) return;
    CHECK(count > 0 && count <= n);
    for (int i = 0; i < count; ++i) wait_for_one(requests, indices[i], completed);
  }
}
#endif

// All of them, of which some may be MPI_REQUEST_NULL.
static void complete(int n, MPI_Request* requests, enum completion form, on_completion* completed) {
  switch (form) {
    case by_waitall:
    case by_testall:
      return complete_all(n, requests, form, completed);
    case by_waitany:
    case by_testany:
      return complete_any(n, requests, form, completed);
    case by_waitsome:
    case by_testsome:
      return complete_some(n, requests, form, completed);
#ifdef ASKS_ABOUT_MANY
    case by_get_status_all:
      return ask_about_all(n, requests, completed);
    case by_get_status_any:
      return ask_about_any(n, requests, completed);
    case by_get_status_some:
      return ask_about_some(n, requests, completed);
#endif
    default:
      return complete_each(n, requests, form, completed);
  }
}
