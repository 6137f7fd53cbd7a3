"""Long messages between ranks of a node of a communicator over several: the report says by which way they
came, and the program finds its data right.

usage: node_messages_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import EXIT_SKIPPED, Mpi


def ways(mpi: Mpi, program: Path, cma: str) -> dict[str, int]:
    """By which way the blocks of 4 MiB came that rank 0 had from rank 1, a rank of its node."""
    environment = {
        "HOCKET_NODE_SIZE": "2",
        "HOCKET_CMA": cma,
        "HOCKET_FORCE": "allgather:bruck",
        "HOCKET_REPORT": "1",
    }
    ended = mpi.launch([str(program), "big"], 3, environment=environment)
    print(ended.output)
    if ended.status != 0:
        sys.exit(f"HOCKET_CMA={cma}: the job failed")
    told = {"read": r"(\d+) were read where they lay", "staged": r"(\d+) came through shared memory"}
    found = {way: re.search(words, ended.output) for way, words in told.items()}
    return {way: int(match[1]) if match else 0 for way, match in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="messages of a node in the report")
    parser.add_argument("--family", required=True)
    for option in ("--prefix", "--hocket-exec", "--program"):
        parser.add_argument(option, type=Path, required=True)
    given = parser.parse_args()
    mpi = Mpi(given.family, given.prefix, given.hocket_exec)
    staged = ways(mpi, given.program, "off")
    if staged["staged"] == 0 or staged["read"] != 0:
        sys.exit(f"HOCKET_CMA=off: {staged}")
    lent = ways(mpi, given.program, "on")
    if lent["staged"] != 0 and lent["read"] == 0:
        print("skipped: processes may not read each other's memory here")
        return EXIT_SKIPPED
    if lent["read"] == 0:
        sys.exit(f"HOCKET_CMA=on: {lent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
