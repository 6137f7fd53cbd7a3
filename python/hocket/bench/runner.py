"""Runs the benchmark program under one MPI: untouched, beside Hocket, and for the report of what ran."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hocket import launch, processes, reports
from hocket.bench import machine
from hocket.bench.program import bench_program
from hocket.bench.records import Record
from hocket.errors import CommandError
from hocket.mpis import Mpi

_start_seconds = 60.0
_bound_per_cell = 8.0  # far more than any takes: what runs longer hangs


@dataclass(frozen=True)
class Request:
    collectives: Sequence[str]
    sizes: Sequence[int]
    ranks: int
    seconds: float = 0.15
    type: str = "float"
    root: int = 0

    def cells(self) -> int:
        return sum(1 if name == "barrier" else len(self.sizes) for name in self.collectives)

    def arguments(self) -> list[str]:
        return [
            *("--collectives", ",".join(self.collectives), "--sizes", ",".join(map(str, self.sizes))),
            *("--seconds", str(self.seconds), "--type", self.type, "--root", str(self.root)),
        ]


def agreed_bytes(collective: str, size: int, ranks: int) -> int:
    """The bytes under which the report files a cell: what MPI obliges all ranks to agree on."""
    if collective in ("gatherv", "scatterv", "alltoallv"):
        return 0
    return size * ranks if collective in ("allgatherv", "reduce_scatter") else size


def class_begin(count: int) -> int:
    """The report counts by classes of size: [2^n, 2^(n+1))."""
    return 1 << (count.bit_length() - 1) if count else 0


def failure(mpi: Mpi, done: processes.Finished) -> CommandError:
    if done.timed_out:
        return CommandError(f"the benchmark under '{mpi.name}' did not end in time", 1)
    lines = [line for line in (done.errors + done.output).splitlines() if line.strip()]
    ours = [line for line in lines if "hocket" in line.lower()] or lines[-3:]
    return CommandError(
        f"the benchmark under '{mpi.name}' failed (status {done.status}): {' | '.join(ours[:3])}", 1
    )


def run_program(mpi: Mpi, ranks: int, program: Sequence[str], bound: float, **variables: str) -> None:
    """A benchmark's own run: wrong results are no failure of it, its records tell."""
    done = processes.run_captured(mpi.command(ranks, program), launch.environment(mpi, **variables), bound)
    if done.status != 0 and "wrong results" not in done.errors:
        raise failure(mpi, done)


def _run(mpi: Mpi, request: Request, with_hocket: bool, out: Path, *more: str, **variables: str) -> None:
    program = [str(bench_program(mpi.family)), *request.arguments(), "--out", str(out), *more]
    bound = _start_seconds + request.cells() * (_bound_per_cell + 4 * request.seconds)
    run_program(
        mpi, request.ranks, launch.with_hocket(program) if with_hocket else program, bound, **variables
    )


def lines_of(text: str) -> list[dict[str, Any]]:
    """The records among what a job printed. Whole lines only: it may have been cut short."""
    whole = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [json.loads(line) for line in whole if line.startswith("{")]


def printed(out: Path) -> list[dict[str, Any]]:
    return lines_of(out.read_text() if out.exists() else "")


def where_and_when(mpi: Mpi, load: float) -> dict[str, Any]:
    """What all records of a run have in common."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": machine.cpu_model(),
        "cores": machine.cores(),
        "load": load,
        "mpi": mpi.name,
        "mpi_version": mpi.version(),
        "link": machine.link(),
    }


def _records(
    mpi: Mpi, load: float, lines: Sequence[dict[str, Any]], algorithms: dict[tuple[str, int], str]
) -> list[Record]:
    common = where_and_when(mpi, load)
    records = []
    for line in lines:
        line.pop("library")
        if line["side"] == "hocket":
            line["algorithm"] = algorithms.get((line["collective"], line["bytes"]), "")
        records.append(Record(**common, **line))
    return records


def _most_called(rows: Sequence[reports.ReportRow], collective: str, wanted: int) -> str:
    fitting = [row for row in rows if row.collective == collective and row.bytes_from == wanted]
    decided = [row for row in fitting if "off" not in row.why.split()] or fitting
    return max(decided, key=lambda row: row.calls).algorithm if decided else ""


def algorithms_of(report: reports.Report, request: Request) -> dict[tuple[str, int], str]:
    found = {}
    for collective in request.collectives:
        for size in [0] if collective == "barrier" else request.sizes:
            wanted = class_begin(agreed_bytes(collective, size, request.ranks))
            found[collective, size] = _most_called(report.rows, collective, wanted)
    return found


def _what_ran(mpi: Mpi, request: Request, folder: Path) -> dict[tuple[str, int], str]:
    """A run of its own: a report takes times, which would be measured too."""
    file = folder / "report.jsonl"
    _run(mpi, request, True, folder / "validated", "--validate-only", HOCKET_REPORT=str(file))
    return algorithms_of(reports.read(file), request) if file.exists() else {}


Keep = Callable[[list[Record]], None]


def run_untouched(mpi: Mpi, request: Request, keep: Keep) -> None:
    """Hands over what was measured even when the run fails or is ended half-way."""
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        out, load = Path(folder) / "cells", machine.load()
        try:
            _run(mpi, request, False, out, "--untouched")
        finally:
            keep(_records(mpi, load, printed(out), {}))


def run_side_by_side(mpi: Mpi, request: Request, keep: Keep) -> None:
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        out, load = Path(folder) / "cells", machine.load()
        algorithms: dict[tuple[str, int], str] = {}
        try:
            _run(mpi, request, True, out)
            algorithms = _what_ran(mpi, request, Path(folder))
        finally:
            keep(_records(mpi, load, printed(out), algorithms))
