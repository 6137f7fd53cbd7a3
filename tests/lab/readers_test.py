"""The machine's description is read by one process of each node, which tells it to all: the others' file is
not looked at, and where it is missing for everybody that is said once on each node.

usage: readers_test.py --family FAMILY --prefix DIR --build DIR
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hocket import reports
from in_lab import RunningLab, Setting, arguments, expect, lab, result, setting_of

NODES, PER_NODE = 4, 2
RECIPE = "linear by leaves"
LOST = "switches are not known on this node"
# Local ranks, as Open MPI's and MPICH's launchers tell them; $0 is a pattern of those whose file is missing.
START = """
case ${OMPI_COMM_WORLD_LOCAL_RANK:-$MPI_LOCALRANKID} in
  $0) export HOCKET_TOPOLOGY=/no/such/machine ;;
esac
exec "$@"
"""


@dataclass(frozen=True)
class Case:
    name: str
    without_file: str  # a pattern of local ranks
    complaints: int
    follows: bool  # its collectives do, the machine


CASES = (
    Case("the second process of each node has no file", "1", 0, True),
    Case("only the second one has", "0", NODES, False),
    Case("nobody has one", "*", NODES, False),
)


def _run(where: RunningLab, setting: Setting, case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"
        program = [setting.program("mpi_differential"), "20261124", "40"]
        done = where.run(
            *("-n", str(NODES * PER_NODE), "--", "sh", "-c", START, case.without_file, *program),
            seconds=30,
            HOCKET_FORCE=f"gather:{RECIPE}",
            HOCKET_REPORT=str(report),
        )
        ran = {row.algorithm for row in reports.read(report).rows} if report.exists() else set()
    expect(done.status == 0, f"{case.name}: status {done.status}", done.output)
    expect(done.output.count(LOST) == case.complaints, f"{case.name}: {case.complaints} say so", done.output)
    expect((RECIPE in ran) == case.follows, f"{case.name}: whether '{RECIPE}' ran", str(sorted(ran)))


def main() -> int:
    setting = setting_of(arguments().parse_args())
    with lab(setting, "--leaves", "2", "--nodes", "2", "--rate", "500mbit", "--uplink", "500mbit") as where:
        for case in CASES:
            _run(where, setting, case)
    return result("readers", CASES)


if __name__ == "__main__":
    sys.exit(main())
