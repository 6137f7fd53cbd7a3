"""A rank's connections to its switch last so many operations, and no longer: for every rank and for many such
numbers, all results of random calls are right. The jobs share one tree of two switches, in which nothing is
left of them.

usage: cut_off_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH --switch PATH
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Mpi

RANKS = 4
MOST_OPERATIONS = 30
SAYS = "hocket-switch: listening on "
RECIPES = {
    1: "allreduce:in_network,reduce:in_network,bcast:in_network,barrier:in_network",
    2: "allreduce:in_network by nodes in 3 segments,reduce:in_network by nodes,"
    "bcast:in_network by nodes in 2 segments,barrier:in_network by nodes",
}


def start(switch: Path, *words: str) -> tuple[subprocess.Popen[str], str]:
    """And where it listens."""
    process = subprocess.Popen(
        [str(switch), "--listen", "127.0.0.1:0", *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    line = process.stdout.readline().strip()
    if not line.startswith(SAYS):
        sys.exit(f"hocket-switch does not listen: {line}")
    return process, line.removeprefix(SAYS)


def run(mpi: Mpi, program: Path, place: str, operations: int, rank: int) -> bool:
    size = 1 + operations % 2
    ended = mpi.launch(
        [str(program), str(1000 * rank + operations)],
        RANKS,
        environment={
            "HOCKET_SWITCH": place,
            "HOCKET_NODE_SIZE": str(size),
            "HOCKET_FORCE": RECIPES[size],
            "HOCKET_SHARP_FAULTS": f"disconnect={operations}:{rank}",
            "TEST_REQUIRES_HOCKET": "1",
            "TEST_CALLS": "25",
        },
    )
    if ended.status == 0:
        return True
    print(f"FAILED: rank {rank} after {operations} operations: status {ended.status}\n{ended.output}")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description="cut ranks off")
    parser.add_argument("--family", required=True)
    for option in ("--prefix", "--hocket-exec", "--program", "--switch"):
        parser.add_argument(option, type=Path, required=True)
    given = parser.parse_args()
    mpi = Mpi(given.family, given.prefix, given.hocket_exec)
    root, above = start(given.switch)
    leaf, place = start(given.switch, "--parent", above)
    try:
        outcomes = [
            run(mpi, given.program, place, operations, rank)
            for operations in range(1, MOST_OPERATIONS + 1)
            for rank in range(RANKS)
        ]
    finally:
        leaf.terminate()
        root.terminate()
    statuses = leaf.wait(10), root.wait(10)
    print(f"{len(outcomes)} jobs, {outcomes.count(False)} of them failed; switches ended with {statuses}")
    return 0 if all(outcomes) and statuses == (0, 0) else 1


if __name__ == "__main__":
    sys.exit(main())
