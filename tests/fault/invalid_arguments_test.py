"""Calls with wrong arguments: the error class is the one that the MPI gives without Hocket.

usage: invalid_arguments_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH
A call that ends the MPI natively (assertion, segmentation fault) may do what it likes under Hocket.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Ended, arguments, mpi_of

RANKS = 2


def lines(ended: Ended) -> list[str]:
    return sorted(line for line in ended.output.splitlines() if line.startswith("MPI_"))


def main() -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--program", type=Path, required=True)
    parsed = parser.parse_args()
    mpi, program = mpi_of(parsed), str(parsed.program)
    cases = int(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    failed = compared = 0
    for number in range(cases):
        natively = mpi.launch([program, str(number)], RANKS, hocket=False, seconds=10)
        if natively.status != 0 or len(lines(natively)) != RANKS:
            print(f"case {number} ends the MPI natively: not compared")
            continue
        compared += 1
        ended = mpi.launch([program, str(number)], RANKS, seconds=20)
        if ended.status != 0 or lines(ended) != lines(natively):
            failed += 1
            print(f"FAILED: natively {lines(natively)}, under Hocket (status {ended.status})\n{ended.output}")
    print(f"{compared} of {cases} cases compared, {failed} differ")
    return 1 if failed or compared < cases // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
