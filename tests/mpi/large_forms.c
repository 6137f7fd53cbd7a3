// Every collective in the large-count forms of MPI 4, blocking, non-blocking and persistent: small calls, the
// same data as the MPI's blocking form gives, and Hocket has run each of them. Argument 1 repeats a printed
// seed.
#define LARGE_COUNTS
#include "random_calls.h"

enum { calls_of_each = 6, most_letters = 64 };

static void run(ARGUMENTS) {
  c->collective->run(c, in, out);
}
static void start_and_wait(ARGUMENTS) {
  MPI_Request request;
  c->collective->start(c, in, out, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
}
static MPI_Request kept;
static void start_kept(ARGUMENTS) {
  (void)c, (void)in, (void)out;
  MPI_Start(&kept);
  MPI_Wait(&kept, MPI_STATUS_IGNORE);
}

static const struct form {
  const char* named;  // in the report
  void (*run)(ARGUMENTS);
} forms[] = {{"%s", run}, {"i%s", start_and_wait}, {"%s_init", start_kept}};
enum { form_count = sizeof forms / sizeof *forms };

static int is_persistent(const struct form* form) {
  return form->run == start_kept;
}

static void refill(const struct call* c, unsigned char* data, int salt) {
  unsigned char* fresh = filled(c, small, salt);
  memcpy(data, fresh, c->room * c->element->extent);
  free(fresh);
}

static void compare_once(const struct call* c, const struct form* form, unsigned char* in, unsigned char* out,
                         int salt) {
  unsigned char* expected = reference(c, salt);
  refill(c, in, salt);
  refill(c, out, salt + 3);
  control("on");
  form->run(c, in, out);
  control("off");
  CHECK(same(c, expected, out));
  CHECK(same_gaps(c, expected, out));
  free(expected);
}

// Twice with the same buffers, as a persistent one has them.
static void compare(const struct call* c, const struct form* form) {
  const size_t bytes = c->room * c->element->extent;
  unsigned char *in = malloc(bytes), *out = malloc(bytes);
  control("on");
  if (is_persistent(form)) c->collective->keep(c, in, out, &kept);
  control("off");
  compare_once(c, form, in, out, 0);
  compare_once(c, form, in, out, 1);
  if (is_persistent(form)) MPI_Request_free(&kept);
  free(in);
  free(out);
}

// What Hocket runs: no communicator of one rank, and no operation of the program's, which is the MPI's in a
// persistent collective, where MPICH 4.0's and Intel MPI's own are wrong.
static int is_for_hocket(const struct call* c) {
  return c->comm == MPI_COMM_WORLD && !(c->operation->on & (own_long | own_map));
}

static struct call draw_call_for_hocket(const struct collective* collective) {
  struct call c;
  do c = draw_call(collective, collective->reduces ? ~0U : 0);
  while (!is_for_hocket(&c));
  return c;
}

static void compare_all(const struct collective* collective, const struct form* form) {
  char name[most_letters];
  snprintf(name, sizeof name, form->named, collective->name);
  for (int k = 0; k < calls_of_each; ++k) {
    const struct call c = draw_call_for_hocket(collective);
    context("%s of %d %s, %s, size=%d root=%d in_place=%d", name, c.count, c.element->name,
            collective->reduces ? c.operation->name : "-", c.size, c.root, c.in_place);
    compare(&c, form);
  }
  check_hocket_ran(name);
}

int main(int argc, char** argv) {
  int size = 0;
  if (!start_beside_hocket(&argc, &argv, &size)) return 77;
  control("off");  // what counts is what compare() calls
  state = check_seed(argc, argv);
  size_classes = 7;
  make_elements();
  make_operations();
  make_comms(size);
  for (int i = 0; control && i < collective_count; ++i)
    for (int form = 0; form < form_count; ++form) compare_all(&collectives[i], &forms[form]);
  free_comms();
  free_elements_and_operations();
  return check_finish("large_forms");
}
