/* conformance AREA RANKS: SHARP's interface, with the switch where HOCKET_SWITCH says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "areas.h"
#include "ranks.h"

static const struct {
  const char* name;
  void (*run)(void);
} areas[] = {
    {"as_ucc", as_ucc},
    {"as_nccl", as_nccl},
    {"as_mvapich2", as_mvapich2},
    {"types", types},
    {"sizes", sizes},
    {"pairs", pairs},
    {"windows", windows},
    {"shapes", shapes},
    {"many", many},
    {"too_many", too_many},
    {"outstanding", outstanding},
    {"threads", threads},
    {"wrong_arguments", wrong_arguments},
    {"init_is_refused", init_is_refused},
    {"group_is_refused", group_is_refused},
    {"lock_is_taken", lock_is_taken},
    {"lock_is_refused", lock_is_refused},
    {"switch_is_lost", switch_is_lost},
    {"switch_comes_back", switch_comes_back},
    {"switch_does_not_come_back", switch_does_not_come_back},
    {"switch_does_not_answer", switch_does_not_answer},
    {"rank_is_cut_off", rank_is_cut_off},
    {"peer_never_comes", peer_never_comes},
    {"member_leaves", member_leaves},
};

int main(int argc, char** argv) {
  const int ranks = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
  if (ranks < 1 || ranks > most_ranks) {
    fprintf(stderr, "usage: conformance AREA RANKS\n");
    return 2;
  }
  for (size_t i = 0; i < sizeof areas / sizeof *areas; ++i)
    if (strcmp(areas[i].name, argv[1]) == 0) return run_ranks(ranks, areas[i].run) != 0;
  fprintf(stderr, "no area: %s\n", argv[1]);
  return 2;
}
