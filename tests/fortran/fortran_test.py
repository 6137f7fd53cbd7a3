"""A Fortran program on 1, 2 and 3 ranks under Hocket: right answers, and its calls were caught.

usage: fortran_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import arguments, mpi_of


def main() -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--program", type=Path, required=True)
    parsed = parser.parse_args()
    failed = 0
    for ranks in (1, 2, 3):
        ended = mpi_of(parsed).launch([str(parsed.program)], ranks, environment={"HOCKET_REPORT": "1"})
        right = ended.status == 0 and " 0 wrong" in f" {ended.output}"
        caught = re.search(r"(?m)^allreduce .* (flat|reduce_scatter_allgather) ", ended.output)
        if not right or (ranks > 1 and not caught):
            failed = 1
            print(f"FAILED on {ranks} ranks: status {ended.status}, caught: {bool(caught)}\n{ended.output}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
