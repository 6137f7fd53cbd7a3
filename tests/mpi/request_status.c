// MPI 4.1's questions about many requests, of which none, one or all are complete: non-blocking and
// persistent collectives, messages, null and inactive ones. A question changes nothing, and has the same
// answer when it is asked again; the requests are waited for afterwards.
#include "check.h"

enum place { no_request, sum, early, idle_bcast, meeting, idle_receive, kept_sum, late, places };
enum { most = 50000, early_tag = 3, late_tag, asked_tag, short_vector = 2 };
static MPI_Request requests[places], before[places];
static int size, sender;  // who starts the collectives last, when the others have asked
static int in[most], out[most], kept_in[most], kept_out[most], idle_data[2];
static int got_early, got_late;

static int is_message(int place) {
  return place == early || place == late;
}
static int is_started(int place) {
  return place == sum || place == meeting || place == kept_sum || is_message(place);
}
enum { started = 5 };

// ---- what is asked about
static void make(int n) {
  requests[no_request] = MPI_REQUEST_NULL;
  MPI_Bcast_init(&idle_data[0], 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[idle_bcast]);
  MPI_Recv_init(&idle_data[1], 1, MPI_INT, sender, 99, MPI_COMM_WORLD, &requests[idle_receive]);
  MPI_Allreduce_init(kept_in, kept_out, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &requests[kept_sum]);
  MPI_Irecv(&got_early, 1, MPI_INT, sender, early_tag, MPI_COMM_WORLD, &requests[early]);
  MPI_Irecv(&got_late, 1, MPI_INT, sender, late_tag, MPI_COMM_WORLD, &requests[late]);
  for (int i = 0; i < n; ++i) {
    in[i] = kept_in[i] = check_rank + i;
    out[i] = kept_out[i] = -1;
  }
}

static void start_collectives(int n) {
  MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[sum]);
  MPI_Start(&requests[kept_sum]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[meeting]);
  memcpy(before, requests, sizeof before);
}

static void free_kept(void) {
  MPI_Request_free(&requests[idle_bcast]);
  MPI_Request_free(&requests[idle_receive]);
  MPI_Request_free(&requests[kept_sum]);
}

// ---- answers
static void is_empty(const MPI_Status* status) {
  int count = -1, cancelled = 1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(count == 0 && !cancelled);
}

static void is_of(int place, const MPI_Status* status) {
  const int is_active = is_started(place) && requests[place] != MPI_REQUEST_NULL;
  int count = -1;
  if (!is_active) CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG);
  if (!is_active || !is_message(place)) return is_empty(status);
  MPI_Get_count(status, MPI_INT, &count);
  CHECK(count == 1 && status->MPI_SOURCE == sender);
  CHECK(status->MPI_TAG == (place == early ? early_tag : late_tag));
}

static int about_all(void) {
  MPI_Status statuses[places];
  int done = -1, done_again = -1;
  MPI_Request_get_status_all(places, requests, &done, statuses);
  for (int i = 0; done && i < places; ++i) is_of(i, &statuses[i]);
  if (done) MPI_Request_get_status_all(places, requests, &done_again, MPI_STATUSES_IGNORE);
  CHECK(done == 0 || (done == 1 && done_again == 1));
  return done;
}

// MPI_UNDEFINED: about none.
static int about_any(void) {
  MPI_Status status;
  int done = -1, index = -1;
  MPI_Request_get_status_any(places, requests, &index, &done, &status);
  CHECK(done == (index != MPI_UNDEFINED));
  if (done) is_of(index, &status);
  return index;
}

// How many; found[]: which.
static int about_some(char found[places]) {
  MPI_Status statuses[places];
  int indices[places], count = -1;
  memset(found, 0, places);
  MPI_Request_get_status_some(places, requests, &count, indices, statuses);
  for (int i = 0; i < count; ++i) {
    CHECK(indices[i] >= 0 && indices[i] < places && !found[indices[i]]++);
    is_of(indices[i], &statuses[i]);
  }
  return count;
}

// ---- asked when
static void none_is_complete(void) {
  char found[places];
  CHECK(!about_all());
  CHECK(about_any() == MPI_UNDEFINED);
  CHECK(about_some(found) == 0);
}

static void only_the_early_one_is_complete(void) {
  char found[places];
  CHECK(!about_all());
  CHECK(about_any() == early);
  CHECK(about_some(found) == 1 && found[early]);
}

static void all_are_complete(void) {
  char found[places];
  CHECK(about_all());
  CHECK(is_started(about_any()));
  CHECK(about_some(found) == started);
  for (int i = 0; i < places; ++i) CHECK(found[i] == is_started(i));
}

static void none_is_active(void) {
  MPI_Status status;
  char found[places];
  int done = 0, index = -1;
  CHECK(about_all());
  CHECK(about_some(found) == MPI_UNDEFINED);
  MPI_Request_get_status_any(places, requests, &index, &done, &status);
  CHECK(done && index == MPI_UNDEFINED);
  is_of(no_request, &status);
}

static void ask_again_and_again(void (*ask)(void)) {
  for (int again = 0; again < 3; ++again) ask();
  CHECK(memcmp(requests, before, sizeof before) == 0);
}

// ---- asked by
static void tell(int other, int tag) {
  MPI_Send(&sender, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
}
static void tell_all(int tag) {
  for (int r = 0; r < size; ++r) tell(r, tag);
}
static void hear_from_the_others(void) {
  int got;
  for (int r = 0; r < size; ++r)
    if (r != sender) MPI_Recv(&got, 1, MPI_INT, r, asked_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ask_before_the_sender_starts(int n) {
  start_collectives(n);
  ask_again_and_again(none_is_complete);
  tell(sender, asked_tag);
  while (about_any() == MPI_UNDEFINED) continue;
  ask_again_and_again(only_the_early_one_is_complete);
  tell(sender, asked_tag);
}

static void start_after_the_others_have_asked(int n) {
  hear_from_the_others();
  tell_all(early_tag);
  hear_from_the_others();
  start_collectives(n);
  tell_all(late_tag);
}

// A wait takes them all at once, since they are complete.
static void wait_for_all(int n) {
  int indices[places], count = 0, right = 1;
  MPI_Waitsome(places, requests, &count, indices, MPI_STATUSES_IGNORE);
  CHECK(count == started);
  for (int i = 0; i < places; ++i)
    CHECK((requests[i] == MPI_REQUEST_NULL) == (i != idle_bcast && i != idle_receive && i != kept_sum));
  CHECK(got_early == sender && got_late == sender);
  for (int i = 0; i < n; ++i)
    right &= out[i] == size * (size - 1) / 2 + size * i && kept_out[i] == size - 1 + i;
  CHECK(right);
}

static void ask(int n) {
  context("rank %d starts last, %d integers", sender, n);
  make(n);
  if (check_rank == sender)
    start_after_the_others_have_asked(n);
  else
    ask_before_the_sender_starts(n);
  while (!about_all()) continue;
  ask_again_and_again(all_are_complete);
  wait_for_all(n);
  memcpy(before, requests, sizeof before);
  ask_again_and_again(none_is_active);
  free_kept();
}

static void no_requests_at_all(void) {
  int done = 0, index = 0, count = 0;
  context("no requests");
  MPI_Request_get_status_all(0, NULL, &done, MPI_STATUSES_IGNORE);
  CHECK(done);
  done = 0;
  MPI_Request_get_status_any(0, NULL, &index, &done, MPI_STATUS_IGNORE);
  CHECK(done && index == MPI_UNDEFINED);
  MPI_Request_get_status_some(0, NULL, &count, NULL, MPI_STATUSES_IGNORE);
  CHECK(count == MPI_UNDEFINED);
}

// The barrier comes first: before it, the collectives of MPI_COMM_WORLD are the MPI's.
int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  no_requests_at_all();
  for (sender = 0; sender < size; ++sender) {
    ask(short_vector);
    ask(most);
  }
  check_hocket_ran("iallreduce");
  check_hocket_ran("allreduce_init");
  check_hocket_ran("ibarrier");
  return check_finish("request_status");
}
