"""Non-blocking collectives between the nodes of a lab, carried out by worker processes on each: right, also
when one of them is late, stopped or killed; an error that names it where nobody else can go on, or where its
node has gone. No worker outlives its job. With --cards the workers are on cards, of which one goes.

usage: workers_test.py [--cards] --family FAMILY --prefix DIR --build DIR
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hocket import reports
from hocket.lab import control_places
from in_lab import Ended, RunningLab, Setting, arguments, expect, lab, result, setting_of, until

SEED = "20261124"
BY_WORKER = "by the node's worker"
GONE = "a worker has gone"
LATE_SECONDS = 2  # less than the stall limit of that job
FORCED = (
    "bcast:knomial,reduce:knomial,allreduce:ring,gather:linear,scatter:linear,allgather:ring,alltoall:linear,"
    "reduce_scatter:pairwise,scan:recursive_doubling,exscan:recursive_doubling,barrier:message_dissemination,"
    "alltoallv:pairwise"
)
ALONG_NODES = (
    "allreduce:recursive_doubling by nodes in 2 segments,bcast:knomial by nodes+leaves,"
    "reduce:knomial by nodes,"
    "gather:linear by nodes,scatter:linear by nodes,allgather:ring by nodes,alltoall:linear by nodes,"
    "reduce_scatter:pairwise by nodes,barrier:message_dissemination by nodes,alltoallv:pairwise reordered"
)
WORKER = "hocketd"
HANDED = (
    *("ialltoall", "ialltoallv", "iallgather", "ibcast", "iallreduce", "igather", "iscatter", "ireduce"),
    "ibarrier",
)


@dataclass(frozen=True)
class Place:
    nodes: int
    per_node: int
    variables: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        words = [f"{self.per_node} ranks on each of {self.nodes} nodes"]
        return ", ".join([*words, *(f"{name}={value}" for name, value in self.variables.items())])


PLACES = (
    *(Place(4, 1), Place(4, 2), Place(1, 3)),
    *(Place(4, 2, {"HOCKET_SHARED_HEAP": "1"}), Place(2, 2, {"HOCKET_WORKERS": "2"})),
    Place(4, 2, {"HOCKET_FORCE": ALONG_NODES}),
)
CARDS = Place(4, 2)


def _no_worker_stays(where: RunningLab, name: str, services: int = 0) -> None:
    """But for what every living card runs as long as the lab is up."""
    expect(until(lambda: len(where.ranks(WORKER)) == services, 15), f"{name}: no worker stays")


def _right(where: RunningLab, setting: Setting, place: Place, services: int = 0) -> None:
    name = str(place)
    program = setting.program("mpi_nonblocking_random")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"
        done = where.run(
            *("-n", str(place.nodes * place.per_node), "--ppn", str(place.per_node)),
            *("--", program, SEED, "12"),
            seconds=60,
            **{
                **{"HOCKET_FORCE": FORCED, "HOCKET_WORKERS": "1", "HOCKET_WORKER_CPUS": "0-1"},
                **{"HOCKET_REPORT": str(report), "TEST_REQUIRES_HOCKET": "1"},
                **place.variables,
            },
        )
        expect(done.status == 0, f"{name}: status {done.status}", done.output)
        rows = reports.read(report).rows if report.exists() else []
    handed = {row.collective for row in rows if BY_WORKER in row.why}
    for collective in HANDED:
        expect(collective in handed, f"{name}: {collective} is handed over", str(sorted(handed)))
    _no_worker_stays(where, name, services)


def _looping(
    where: RunningLab, setting: Setting, happen: Callable[[], None], seconds: int, **variables: str
) -> Ended:
    """A job of four ranks on nodes of their own, for so many seconds or until something happens to it. Its
    launcher has time to take its leave of nodes that live."""
    program = setting.program("lab_looping")
    return where.run_beside(
        happen,
        "under way",
        *("-n", "4", "--ppn", "1", "--", program, "iallreduce", "262144", str(seconds), "returned"),
        seconds=60,
        launcher_seconds=15,
        HOCKET_FORCE=FORCED,
        HOCKET_WORKERS="1",
        **variables,
    )


def _worker_goes(
    where: RunningLab, setting: Setting, how: str = "KILL", on: str = "n1", services: int = 0
) -> None:
    """The ranks go on by themselves, if anything goes on inside of the MPI's own calls. A card's service goes
    with its worker."""
    name = f"worker gone by {how}"
    goes_on = setting.family == "openmpi"
    program = setting.program("lab_looping")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"

        def happen() -> None:
            done = where.do("shell", on, "--", "pkill", f"-{how}", "-x", WORKER)
            expect(done.status == 0, f"{name}: it was there", done.output)
            expect(until(lambda: not where.ranks(program), 40), f"{name}: all ranks end")

        settings = {"HOCKET_STALL_SECONDS": "5", "HOCKET_REPORT": str(report)}
        ended = _looping(where, setting, happen, 8, **settings)
        notes = reports.read(report).notes if report.exists() else []
    expect("under way" in ended.output, f"{name}: it ran", ended.output)
    if goes_on:
        expect(ended.status == 0, f"{name}: status {ended.status}", ended.output)
        expect("error" not in ended.output, f"{name}: no error", ended.output)
        expect(any(GONE in note for note in notes), f"{name}: the report says so", str(notes))
    else:
        expect("HOCKET_PROGRESS" in ended.output, f"{name}: what has gone, and what helps", ended.output)
    _no_worker_stays(where, name, services)


def _worker_late(where: RunningLab, setting: Setting) -> None:
    """It stands still for less than the stall limit: it is waited for."""
    program = setting.program("lab_looping")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"

        def happen() -> None:
            def send(signal: str) -> None:
                done = where.do("shell", "n1", "--", "pkill", f"-{signal}", "-x", WORKER)
                expect(done.status == 0, "worker late: it is there", done.output)

            send("STOP")
            time.sleep(LATE_SECONDS)  # so long it stands still: nothing is waited for
            send("CONT")
            expect(until(lambda: not where.ranks(program), 40), "worker late: all ranks end")

        settings = {"HOCKET_STALL_SECONDS": "8", "HOCKET_REPORT": str(report)}
        ended = _looping(where, setting, happen, 6, **settings)
        told = reports.read(report) if report.exists() else reports.Report()
    expect("under way" in ended.output, "worker late: it ran", ended.output)
    expect(ended.status == 0, f"worker late: status {ended.status}", ended.output)
    expect(any(BY_WORKER in row.why for row in told.rows), "worker late: it carried out", str(told.rows))
    expect(not any(GONE in note for note in told.notes), "worker late: it stays", str(told.notes))
    _no_worker_stays(where, "worker late")


def _node_killed(where: RunningLab, setting: Setting) -> None:
    """Nobody says so: its machine acknowledges nothing, and its rank does not say what has ended."""
    program = setting.program("lab_looping")
    left = ("n0", "n1", "n2")

    def happen() -> None:
        done = where.do("kill", "n3")
        expect(done.status == 0, "node killed: it was there", done.output)
        expect(until(lambda: not where.ranks(program, left), 30), "node killed: all ranks end")

    ended = _looping(where, setting, happen, 60, HOCKET_STALL_SECONDS="3")
    expect("under way" in ended.output, "node killed: it ran", ended.output)
    for rank in range(len(left)):
        says = f"rank {rank}: error: " in ended.output
        expect(says, f"node killed: rank {rank} gets an error", ended.output)
    # Where the ranks cannot go on inside of the MPI's own calls, the workers' loss is the error.
    words = ["rank 3 (rank 3 of the job"] + ([] if setting.family == "openmpi" else ["HOCKET_PROGRESS"])
    expect(any(word in ended.output for word in words), "node killed: what has gone", ended.output)
    expect(until(lambda: not where.ranks(WORKER, left), 20), "node killed: no worker stays")


def _on_cards(setting: Setting) -> int:
    try:
        control_places.find()
    except control_places.GroupError as problem:
        print(f"SKIPPED: no cards: {problem}")
        return 77
    with lab(setting, "--dpu", "--rate", "500mbit", "--uplink", "500mbit") as where:
        _right(where, setting, CARDS, services=4)
        _worker_goes(where, setting, on="n1-card", services=3)
    return result("workers on cards", (CARDS, "card killed"))


def main() -> int:
    parser = arguments()
    parser.add_argument("--cards", action="store_true")
    parsed = parser.parse_args()
    setting = setting_of(parsed)
    network = subprocess.run(
        [setting.build / "lib" / "hocket" / WORKER, "--network"],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    if network.returncode != 0:
        print(f"SKIPPED: no workers on several nodes: {network.stderr.strip()}")
        return 77
    if parsed.cards:
        return _on_cards(setting)
    with lab(setting, "--leaves", "2", "--nodes", "2", "--rate", "500mbit", "--uplink", "500mbit") as where:
        for place in PLACES:
            _right(where, setting, place)
    with lab(setting) as where:
        _worker_late(where, setting)
        for how in ("KILL", "STOP"):
            _worker_goes(where, setting, how)
    with lab(setting) as where:
        _node_killed(where, setting)
    return result("workers", (*PLACES, "worker late", "worker killed", "worker stopped", "node killed"))


if __name__ == "__main__":
    sys.exit(main())
