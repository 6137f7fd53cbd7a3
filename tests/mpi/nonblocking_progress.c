// A non-blocking collective goes on while a rank sits in another call of MPI, which ends only after the
// others have waited for the collective: MPI 4.1, section 6.12 and its example of a legal program. Without
// progress in the other call these programs never end. Argument 1: the call that the rank sits in.
#include "check.h"

enum { short_block = 4, long_block = 60000, tag = 6 };
static int size, sitter;
static int *from, *to;
static MPI_Comm duplicate;
static MPI_Win window;
static MPI_Comm inter = MPI_COMM_NULL;

// ---- the collectives
static void alltoall(int n, MPI_Request* request) {
  for (int i = 0; i < n * size; ++i) from[i] = check_rank * 1000 + i / n;
  MPI_Ialltoall(from, n, MPI_INT, to, n, MPI_INT, MPI_COMM_WORLD, request);
}
static int alltoall_is_right(int n) {
  int right = 1;
  for (int i = 0; i < n * size; ++i) right &= to[i] == i / n * 1000 + check_rank;
  return right;
}

static void allreduce(int n, MPI_Request* request) {
  for (int i = 0; i < n; ++i) from[i] = check_rank + i;
  MPI_Iallreduce(from, to, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
}
static int allreduce_is_right(int n) {
  int right = 1;
  for (int i = 0; i < n; ++i) right &= to[i] == size * (size - 1) / 2 + size * i;
  return right;
}

// From the rank that is not the sitter's neighbour only: data go through the sitter in trees and chains.
static void bcast(int n, MPI_Request* request) {
  const int root = (sitter + 1) % size;
  for (int i = 0; i < n; ++i) to[i] = check_rank == root ? i : -1;
  MPI_Ibcast(to, n, MPI_INT, root, MPI_COMM_WORLD, request);
}
static int bcast_is_right(int n) {
  int right = 1;
  for (int i = 0; i < n; ++i) right &= to[i] == i;
  return right;
}

static void barrier(int n, MPI_Request* request) {
  (void)n;
  MPI_Ibarrier(MPI_COMM_WORLD, request);
}
static int barrier_is_right(int n) {
  return n == 0;
}

static MPI_Op left;
static void keep_left(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*n * sizeof(int));
}
static void own_operation(int n, MPI_Request* request) {
  for (int i = 0; i < n; ++i) from[i] = check_rank + i;
  MPI_Iallreduce(from, to, n, MPI_INT, left, MPI_COMM_WORLD, request);
}
static int own_operation_is_right(int n) {
  return bcast_is_right(n);
}

static const struct {
  const char* name;
  void (*start)(int n, MPI_Request* request);
  int (*is_right)(int n);
  int n;
} collectives[] = {
    {"ialltoall", alltoall, alltoall_is_right, short_block},
    {"long ialltoall", alltoall, alltoall_is_right, long_block},
    {"iallreduce", allreduce, allreduce_is_right, short_block},
    {"long iallreduce", allreduce, allreduce_is_right, long_block},
    {"ibcast", bcast, bcast_is_right, short_block},
    {"long ibcast", bcast, bcast_is_right, long_block},
    {"ibarrier", barrier, barrier_is_right, 0},
    {"iallreduce by an operation of the program", own_operation, own_operation_is_right, short_block},
    {"long iallreduce by an operation of the program", own_operation, own_operation_is_right, long_block},
};
enum { collective_cases = sizeof collectives / sizeof *collectives };

// ---- what the sitter does before it waits, and the others after they have waited
static void with_others(void (*do_it)(int other)) {
  for (int r = 0; r < size; ++r)
    if (r != check_rank) do_it(r);
}

static void send_to(int other) {
  MPI_Send(&check_rank, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
}
static void receive_from(int other) {
  int got = -1;
  MPI_Recv(&got, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(got == other);
}
static void probe_from(int other) {
  MPI_Status status;
  MPI_Probe(other, tag, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == other);
  receive_from(other);
}
static void matched_probe_from(int other) {
  MPI_Message message;
  int got = -1;
  MPI_Mprobe(other, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  CHECK(got == other);
}
static void send_synchronously_to(int other) {
  MPI_Ssend(&check_rank, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
}
static int long_message[1 << 20];
static void send_much_to(int other) {
  MPI_Send(long_message, 1 << 20, MPI_INT, other, tag, MPI_COMM_WORLD);
}
static void receive_much_from(int other) {
  MPI_Recv(long_message, 1 << 20, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void exchange_with(int other) {
  int got = -1;
  MPI_Sendrecv(&check_rank, 1, MPI_INT, other, tag, &got, 1, MPI_INT, other, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(got == other);
}
static void wait_for(int other) {
  int got = -1;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == other);
}

#define TO_ALL(name, one)  \
  static void name(void) { \
    with_others(one);      \
  }
TO_ALL(receive, receive_from)
TO_ALL(probe, probe_from)
TO_ALL(matched_probe, matched_probe_from)
TO_ALL(send_synchronously, send_synchronously_to)
TO_ALL(send_much, send_much_to)
TO_ALL(exchange, exchange_with)
TO_ALL(wait, wait_for)

static void send(void) {
  send_to(sitter);
}
static void receive_here(void) {
  receive_from(sitter);
}
static void receive_much(void) {
  receive_much_from(sitter);
}
static void exchange_here(void) {
  exchange_with(sitter);
}

static void same_communicator(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}
static void other_communicator(void) {
  MPI_Barrier(duplicate);
}
static void large_collective(void) {
  static int data[long_block];
  MPI_Bcast(data, long_block, MPI_INT, sitter, duplicate);
}
static void intercommunicator(void) {
  MPI_Barrier(inter);
}
static void fence(void) {
  MPI_Win_fence(0, window);
}
static void make_communicator(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank == sitter, 0, &made);
  MPI_Comm_free(&made);
}

static const struct sitting {
  const char* name;
  void (*sit)(void);
  void (*release)(void);
} sittings[] = {
    {"wait", wait, send},
    {"recv", receive, send},
    {"probe", probe, send},
    {"mprobe", matched_probe, send},
    {"ssend", send_synchronously, receive_here},
    {"long_send", send_much, receive_much},
    {"sendrecv", exchange, exchange_here},
    {"same_communicator", same_communicator, same_communicator},
    {"other_communicator", other_communicator, other_communicator},
    {"large_collective", large_collective, large_collective},
    {"intercommunicator", intercommunicator, intercommunicator},
    {"win_fence", fence, fence},
    {"comm_split", make_communicator, make_communicator},
};

static void sit_through(const struct sitting* sitting, int which) {
  const int n = collectives[which].n;
  MPI_Request request;
  context("%s, rank %d sits in %s", collectives[which].name, sitter, sitting->name);
  collectives[which].start(n, &request);
  if (check_rank == sitter) sitting->sit();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(collectives[which].is_right(n));
  if (check_rank != sitter) sitting->release();
}

// The blocking collective comes first: before it, those of MPI_COMM_WORLD are the MPI's.
static void make_objects(void) {
  MPI_Comm half;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Win_create(to, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  const int is_low = check_rank < size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? size / 2 : 0, 5, &inter);
  MPI_Comm_free(&half);
  MPI_Op_create(keep_left, 0, &left);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  from = malloc((size_t)size * long_block * sizeof *from);
  to = malloc((size_t)size * long_block * sizeof *to);
  make_objects();
  for (size_t i = 0; i < sizeof sittings / sizeof *sittings; ++i) {
    if (argc > 1 && strcmp(argv[1], sittings[i].name) != 0) continue;
    for (int which = 0; which < collective_cases; ++which)
      for (sitter = 0; sitter < size; ++sitter) sit_through(&sittings[i], which);
  }
  MPI_Win_free(&window);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&inter);
  MPI_Op_free(&left);
  free(from);
  free(to);
  return check_finish("nonblocking_progress");
}
