"""A Fortran program on 1, 2 and 3 ranks under Hocket: right answers, and its calls were caught.

usage: fortran_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Ended, arguments, calls_of, caught, mpi_of

NOT_BLOCKING = ("iallreduce", "ibcast", "iallgather", "allreduce_init", "bcast_init", "allgather_init")


def left_to_the_mpi(ended: Ended) -> list[str]:
    """The forms of which the MPI ran a call, or Hocket none."""
    left = [form for form in NOT_BLOCKING if not caught(ended, form) or "native" in calls_of(ended, form)]
    if caught(ended, "allreduce") == caught(ended, "iallreduce") + caught(ended, "allreduce_init"):
        left.append("allreduce")
    return left


def main() -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--program", type=Path, required=True)
    parsed = parser.parse_args()
    failed = 0
    for ranks in (1, 2, 3):
        ended = mpi_of(parsed).launch([str(parsed.program)], ranks, environment={"HOCKET_REPORT": "1"})
        right = ended.status == 0 and " 0 wrong" in f" {ended.output}"
        left = left_to_the_mpi(ended) if ranks > 1 else []
        if not right or left:
            failed = 1
            print(f"FAILED on {ranks} ranks: status {ended.status}, left to the MPI: {left}\n{ended.output}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
