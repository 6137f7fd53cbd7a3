"""Reduction in the network of a lab whose switches are killed and stopped, and whose cables are pulled for a
moment, while random calls run: every result is right, and the report says who finished them.

usage: switches_test.py --family FAMILY --prefix DIR --build DIR
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hocket import reports
from hocket.lab import aggregation
from in_lab import RunningLab, Setting, arguments, expect, lab, result, setting_of, until

SHAPE = ("--switches", "aggregate", "--rate", "1gbit", "--uplink", "1gbit")
ADDRESSES = {"spine": "10.77.252.1", "leaf0": "10.77.252.2", "leaf1": "10.77.252.3"}
BY_NODES = (
    "allreduce:in_network by nodes in 3 segments,reduce:in_network by nodes,"
    "bcast:in_network by nodes in 2 segments,barrier:in_network by nodes"
)
FLAT = "allreduce:in_network,reduce:in_network,bcast:in_network,barrier:in_network"
CALLS = 1500
CUT_SECONDS = 2  # less than the stall limit: what is lost is sent again
SECONDS = 90

_OPERATIONS = f"""
import json, urllib.request
with urllib.request.urlopen("http://spine:{aggregation.STATISTICS_PORT}/stats.json", timeout=10) as answer:
    page = json.load(answer)
print(page["operations_small"] + page["operations_streaming"])
"""


@dataclass(frozen=True)
class Case:
    what: str
    happens: Callable[[RunningLab], None]
    per_node: int = 1
    is_repaired: bool = True  # messages finish some calls
    stall_seconds: int = 20


def _operations(where: RunningLab) -> int:
    """That the root has combined."""
    return json.loads(where.do("shell", "head", "--", sys.executable, "-I", "-c", _OPERATIONS).output)


def _signal(name: str, switch: str) -> Callable[[RunningLab], None]:
    def send(where: RunningLab) -> None:
        line = f"[h]ocket-switch --listen {ADDRESSES[switch]}:"
        done = where.do("shell", "head", "--", "pkill", f"-{name}", "-f", line)
        expect(done.status == 0, f"{switch} is there", done.output)

    return send


def _cut_for_a_moment(where: RunningLab) -> None:
    expect(where.do("cut", "leaf1").status == 0, "cut")
    time.sleep(CUT_SECONDS)  # so long there is no way: nothing is waited for
    expect(where.do("mend", "leaf1").status == 0, "mend")


CASES = (
    Case("the root is killed", _signal("KILL", "spine")),
    Case("a leaf is killed", _signal("KILL", "leaf1"), per_node=2),
    Case("a leaf stands still", _signal("STOP", "leaf0"), per_node=2, stall_seconds=3),
    Case("a cable is pulled for a moment", _cut_for_a_moment, is_repaired=False),
)


def _run(setting: Setting, case: Case) -> None:
    program = setting.program("mpi_aggregation_faults")
    with tempfile.TemporaryDirectory() as folder, lab(setting, *SHAPE) as where:
        report, started = Path(folder) / "report.jsonl", Path(folder) / "started"

        def happen() -> None:
            expect(until(started.exists, 30), f"{case.what}: it has started")
            expect(until(lambda: _operations(where) > 20, 30), f"{case.what}: switches are at work")
            case.happens(where)

        ended = where.run_beside(
            happen,
            "",
            *("-n", str(4 * case.per_node), "--ppn", str(case.per_node), "--", program),
            seconds=SECONDS,
            HOCKET_FORCE=BY_NODES if case.per_node > 1 else FLAT,
            HOCKET_STALL_SECONDS=str(case.stall_seconds),
            HOCKET_REPORT=str(report),
            TEST_CALLS=str(CALLS),
            TEST_STARTED=str(started),
            TEST_REQUIRES_HOCKET="1",
        )
        told = reports.read(report) if report.exists() else reports.Report()
    expect(ended.status == 0, f"{case.what}: status {ended.status}", ended.output)
    counts = told.aggregated
    expect(bool(counts and counts.calls > 0), f"{case.what}: calls went through the network", str(counts))
    repaired = counts.repaired if counts else 0
    expect((repaired > 0) == case.is_repaired, f"{case.what}: {repaired} finished by messages", ended.output)
    print(f"{case.what}: {counts}", flush=True)


def main() -> int:
    setting = setting_of(arguments().parse_args())
    for case in CASES:
        _run(setting, case)
    return result("switches", CASES)


if __name__ == "__main__":
    sys.exit(main())
