// The same random calls by the MPI and by Hocket (hocket_control), in one process: the same bytes afterwards.
// Then calls on data that round, by Hocket alone: the same bits every time, and on all ranks that get the
// same result. Argument 1 repeats a printed seed, argument 2 sets the number of calls.
#include "random_calls.h"

static void say_which(int k, const struct call* c) {
  context("call %d: %s of %d %s, %s, on %s, size=%d root=%d in_place=%d", k, c->collective->name, c->count,
          c->element->name, c->collective->reduces ? c->operation->name : "-", c->comm_name, c->size, c->root,
          c->in_place);
}

// ---- running it
static void compare(int k) {
  const struct collective* collective = &collectives[draw(collective_count)];
  const struct call c = draw_call(collective, collective->reduces ? ~0U : 0);
  say_which(k, &c);
  unsigned char* expected = reference(&c, k);
  unsigned char* found = result(&c, small, k, "on");
  CHECK(same(&c, expected, found));
  CHECK(same_gaps(&c, expected, found));
  free(expected);
  free(found);
}

// ---- data that round
static const struct collective* draw_reduction(void) {
  const struct collective* collective;
  do collective = &collectives[draw(collective_count)];
  while (!collective->reduces);
  return collective;
}

// Whether the first rank has the same.
static int same_as_first(const struct call* c, const unsigned char* found) {
  const size_t bytes = (size_t)c->count * c->element->extent;
  unsigned char* first = calloc(c->room, c->element->extent);
  memcpy(first, found, c->room * c->element->extent);
  MPI_Bcast(first, (int)bytes, MPI_BYTE, 0, c->comm);
  const int right = same(c, first, found);
  free(first);
  return right;
}

static void repeat(int k) {
  const struct call c = draw_call(draw_reduction(), floating | is_complex);
  say_which(k, &c);
  unsigned char* found = result(&c, rounding, k, "on");
  for (int again = 0; again < 2; ++again) {
    unsigned char* same_call = result(&c, rounding, k, "on");
    CHECK(same(&c, found, same_call));
    free(same_call);
  }
  if (is(&c, allreduce)) CHECK(same_as_first(&c, found));
  free(found);
}

int main(int argc, char** argv) {
  int size = 0;
  // What is left to MPICH on one node changes its algorithm, and its last bits, after five calls of a
  // communicator.
  setenv("MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD", "0", 0);
  if (!start_beside_hocket(&argc, &argv, &size)) return 77;
  const int calls = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 400;
  state = check_seed(argc, argv);
  make_elements();
  make_operations();
  make_comms(size);
  for (int k = 0; control && k < calls; ++k) compare(k);
  for (int k = 0; control && k < calls / 4; ++k) repeat(k);
  free_comms();
  free_elements_and_operations();
  return check_finish("differential");
}
