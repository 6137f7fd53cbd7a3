#!/usr/bin/env python3
"""Checks libsharp_coll.so as built: it exports SHARP's interface and hocket_sharp.h, nothing else, and needs
libc alone."""

from __future__ import annotations

import sys
from pathlib import Path

from check_preload import NEEDED, needed, symbols

COLLECTIVES = ("barrier", "allreduce", "reduce", "reduce_scatter", "allgather", "bcast")
OTHERS = (
    "init",
    "finalize",
    "caps_query",
    "progress",
    "comm_init",
    "comm_destroy",
    "req_test",
    "req_wait",
    "req_free",
    "reg_mr",
    "reg_mr_v2",
    "dereg_mr",
    "strerror",
    "print_config",
    "dump_stats",
    # of other callers of old: MVAPICH2 calls it, and all start from the object
    "log_early_init",
    "default_config",
)
INTERFACE = {f"sharp_coll_{name}" for name in OTHERS} | {
    f"sharp_coll_do_{name}{form}" for name in COLLECTIVES for form in ("", "_nb")
}
OWN = {"hocket_sharp_alarm"}  # hocket_sharp.h


def main() -> int:
    library = Path(sys.argv[1])
    exported = {name.partition("@")[0] for name in symbols(library)[1]}
    problems = [f"does not export {name}" for name in sorted((INTERFACE | OWN) - exported)]
    problems += [f"exports {name}" for name in sorted(exported - INTERFACE - OWN)]
    problems += [f"needs {name}" for name in needed(library) if not NEEDED.fullmatch(name)]
    print(f"{library.name}: {'; '.join(problems) or 'ok, needs ' + ', '.join(needed(library))}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
