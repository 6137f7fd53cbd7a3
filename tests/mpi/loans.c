// Large blocks are read where they are: who has started a non-blocking or persistent collective need not call
// MPI again until those who receive from it have completed theirs. They tell it through a pipe, since all it
// could do by MPI would go on with the operation, too. Where blocks are copied piece by piece, the receivers
// never end. Argument 1: only the form of this name.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"
#include "persistent_names.h"
#include "reads.h"

// More than all cells of a pair hold (256 KiB): what fits into them needs no loan.
enum { large = 1 << 18 };
static int size, root;
static int *from, *to, *send_counts, *receive_counts, *places, *nowhere;

static int block_of(int rank) {
  return large + rank;
}

static int value(int sender, int receiver, int i) {
  return 1000003 * sender + 101 * receiver + 7 * root + i;
}

// ---- pipes
static int own_pipe, *pipes;  // by rank

static int open_pipe(const char* folder, int rank, int flags) {
  char path[64];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  if ((flags & O_ACCMODE) == O_RDWR && mkfifo(path, 0600) != 0) abort();
  const int end = open(path, flags | O_CLOEXEC);
  if (end < 0) abort();
  return end;
}

// A rank opens both ends of its own, so that nobody waits for another one to open it. Nothing is left in the
// file system, even if the program is ended.
static void make_pipes(void) {
  char folder[] = "/tmp/hocket-loans-XXXXXX", path[64];
  if (check_rank == 0 && !mkdtemp(folder)) abort();
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  own_pipe = open_pipe(folder, check_rank, O_RDWR);
  MPI_Barrier(MPI_COMM_WORLD);
  pipes = calloc((size_t)size, sizeof *pipes);
  for (int r = 0; r < size; ++r) pipes[r] = open_pipe(folder, r, O_WRONLY);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/%d", folder, check_rank);
  unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) rmdir(folder);
}

static void close_pipes(void) {
  for (int r = 0; r < size; ++r) close(pipes[r]);
  close(own_pipe);
  free(pipes);
}

static void tell(int rank) {
  CHECK(write(pipes[rank], "!", 1) == 1);
}

static void be_told_by(int others) {
  char mark;
  for (; others > 0; --others) CHECK(read(own_pipe, &mark, 1) == 1);
}

// ---- the collectives: data go from all other ranks to the root, or from the root to all others
static void fill(int to_root) {
  int place = 0;
  for (int r = 0; r < size; ++r) {
    places[r] = place;
    place += block_of(r);
  }
  memset(to, -1, (size_t)place * sizeof *to);
  for (int i = 0; to_root && i < block_of(check_rank); ++i) from[i] = value(check_rank, root, i);
  for (int r = 0; !to_root && r < size; ++r)
    for (int i = 0; i < block_of(r); ++i) from[places[r] + i] = value(root, r, i);
}

static int has_arrived(int to_root) {
  int right = 1;
  if (to_root)
    for (int r = 0; r < size && check_rank == root; ++r)
      for (int i = 0; i < block_of(r); ++i) right &= to[places[r] + i] == value(r, root, i);
  else
    for (int i = 0; i < block_of(check_rank); ++i) right &= to[i] == value(root, check_rank, i);
  return right;
}

static void count_blocks(void) {
  for (int r = 0; r < size; ++r) {
    receive_counts[r] = check_rank == root ? block_of(r) : 0;
    send_counts[r] = r == root ? block_of(check_rank) : 0;
  }
}

static void igatherv(MPI_Request* request) {
  count_blocks();
  MPI_Igatherv(from, block_of(check_rank), MPI_INT, to, receive_counts, places, MPI_INT, root, MPI_COMM_WORLD,
               request);
}
static void ialltoallv(MPI_Request* request) {
  count_blocks();
  MPI_Ialltoallv(from, send_counts, nowhere, MPI_INT, to, receive_counts, places, MPI_INT, MPI_COMM_WORLD,
                 request);
}
static void iscatterv(MPI_Request* request) {
  for (int r = 0; r < size; ++r) send_counts[r] = block_of(r);
  MPI_Iscatterv(from, send_counts, places, MPI_INT, to, block_of(check_rank), MPI_INT, root, MPI_COMM_WORLD,
                request);
}
static void gatherv_init(MPI_Request* request) {
  count_blocks();
  MPI_Gatherv_init(from, block_of(check_rank), MPI_INT, to, receive_counts, places, MPI_INT, root,
                   MPI_COMM_WORLD, MPI_INFO_NULL, request);
}
static void scatterv_init(MPI_Request* request) {
  for (int r = 0; r < size; ++r) send_counts[r] = block_of(r);
  MPI_Scatterv_init(from, send_counts, places, MPI_INT, to, block_of(check_rank), MPI_INT, root,
                    MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static const struct form {
  const char* name;  // in Hocket's report, too
  void (*start)(MPI_Request* request);
  int to_root;
  int is_persistent;
} forms[] = {
    {"igatherv", igatherv, 1, 0},           {"ialltoallv", ialltoallv, 1, 0},
    {"iscatterv", iscatterv, 0, 0},         {"gatherv_init", gatherv_init, 1, 1},
    {"scatterv_init", scatterv_init, 0, 1},
};

// ---- the senders sit
static int is_receiver(const struct form* form, int rank) {
  return (rank == root) == form->to_root;
}

static void tell_senders(const struct form* form) {
  for (int r = 0; r < size; ++r)
    if (!is_receiver(form, r)) tell(r);
}

static void run(const struct form* form, MPI_Request* request, int senders_sit) {
  context("%s, root %d%s", form->name, root, senders_sit ? ", senders sit" : "");
  fill(form->to_root);
  if (form->is_persistent)
    MPI_Start(request);
  else
    form->start(request);
  if (senders_sit && !is_receiver(form, check_rank)) be_told_by(form->to_root ? 1 : size - 1);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  CHECK(has_arrived(form->to_root));
  if (senders_sit && is_receiver(form, check_rank)) tell_senders(form);
}

// The first time, each pair finds out whether it can lend; the barrier says that it has.
static void run_form(const struct form* form) {
  MPI_Request request = MPI_REQUEST_NULL;
  fill(form->to_root);  // and places, which an init takes
  if (form->is_persistent) form->start(&request);
  run(form, &request, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int again = 0; again < 3; ++again) run(form, &request, 1);
  if (form->is_persistent) MPI_Request_free(&request);
}

static int* ints(size_t n) {
  return calloc(n, sizeof(int));
}

int main(int argc, char** argv) {
  const char* why = why_no_reads();
  if (why) {
    printf("SKIPPED: process_vm_readv: %s\n", why);
    return 77;
  }
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t room = (size_t)size * (large + (size_t)size);
  from = ints(room), to = ints(room);
  send_counts = ints((size_t)size), receive_counts = ints((size_t)size), places = ints((size_t)size);
  nowhere = ints((size_t)size);
  make_pipes();
  for (size_t f = 0; f < sizeof forms / sizeof *forms; ++f) {
    if (argc > 1 && strcmp(argv[1], forms[f].name) != 0) continue;
    for (root = 0; root < size; ++root) run_form(&forms[f]);
    check_hocket_ran(forms[f].name);  // an MPI may not need its senders either
  }
  close_pipes();
  free(from), free(to), free(send_counts), free(receive_counts), free(places), free(nowhere);
  return check_finish("loans");
}
