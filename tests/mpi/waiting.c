// A rank waits inside a collective while a peer is in a rendezvous with it: the MPI's own progress has to go
// on there, or the peer never comes to the collective. One rank sends a long message to all others, which
// have posted a receive and are in the collective before the message starts; rounds differ in the collective,
// the sender, and for how long it keeps the others waiting: not at all, or until they sleep.
#include <time.h>

#include "check.h"

enum { message = 1 << 21, rounds = 3, small = 4, large = 1 << 17 };  // message: 8 MB of int

static int size;
static int vector[large], sums[large];

static int value(int round, int i) {
  return round * 7919 + i;
}

static void barrier(int count, int root, int round) {
  (void)count, (void)root, (void)round;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int count, int root, int round) {
  for (int i = 0; i < count; ++i) vector[i] = check_rank == root ? value(round, i) : -1;
  MPI_Bcast(vector, count, MPI_INT, root, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < count; ++i) right &= vector[i] == value(round, i);
  CHECK(right);
}

static void allreduce(int count, int root, int round) {
  (void)root;
  for (int i = 0; i < count; ++i) vector[i] = value(round, i) + check_rank;
  MPI_Allreduce(vector, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < count; ++i) right &= sums[i] == size * value(round, i) + size * (size - 1) / 2;
  CHECK(right);
}

static const struct {
  const char* name;
  void (*run)(int count, int root, int round);
  int count;
} collectives[] = {{"barrier", barrier, 0},
                   {"bcast", bcast, small},
                   {"bcast", bcast, large},
                   {"allreduce", allreduce, small},
                   {"allreduce", allreduce, large}};
enum { collective_cases = sizeof collectives / sizeof *collectives };

static void nap(int milliseconds) {
  const struct timespec time = {0, milliseconds * 1000000L};
  nanosleep(&time, NULL);
}

static void send_and_join(int* data, int which, int round) {
  for (int i = 0; i < message; ++i) data[i] = value(round, i);
  nap(round * 10);
  for (int r = 0; r < size; ++r)
    if (r != check_rank) MPI_Send(data, message, MPI_INT, r, round, MPI_COMM_WORLD);
  collectives[which].run(collectives[which].count, check_rank, round);
}

static void receive_within(int* data, int which, int sender, int round) {
  MPI_Request request;
  memset(data, 0xff, message * sizeof *data);
  MPI_Irecv(data, message, MPI_INT, sender, round, MPI_COMM_WORLD, &request);
  collectives[which].run(collectives[which].count, sender, round);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int right = 1;
  for (int i = 0; i < message; ++i) right &= data[i] == value(round, i);
  CHECK(right);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* data = malloc(message * sizeof *data);
  for (int which = 0; which < collective_cases; ++which)
    for (int sender = 0; sender < size; ++sender)
      for (int round = 0; round < rounds; ++round) {
        context("%s of %d, sender %d, round %d", collectives[which].name, collectives[which].count, sender,
                round);
        if (check_rank == sender)
          send_and_join(data, which, round);
        else
          receive_within(data, which, sender, round);
      }
  free(data);
  return check_finish("waiting");
}
