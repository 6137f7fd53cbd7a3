"""The non-blocking benchmark on real ranks: tiny operations, so that it stays quick."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from built_programs import mpis_with
from hocket import mpis
from hocket.bench import nonblocking, nonblocking_cells, program, runner, timeline
from hocket.bench.nonblocking import Lane, Request
from hocket.bench.records import COLLECTIVES
from hocket.bench.timeline import Noise, Scenario, Skew, Span, Waits

Hocket = Callable[..., subprocess.CompletedProcess[str]]

INSTALLED = mpis_with(program.nonblocking_program)
pytestmark = pytest.mark.skipif(not INSTALLED, reason="no MPI with a built benchmark program")
each_mpi = pytest.mark.parametrize("mpi", INSTALLED, ids=lambda mpi: mpi.name)


def _run(mpi: mpis.Mpi, request: Request, with_hocket: bool = False) -> list[Lane]:
    found: list[Lane] = []
    nonblocking.run(mpi, request, with_hocket, found.extend)
    return found


def _check(cell: nonblocking_cells.Cell, tests: list[int]) -> None:
    ways = {(overlap.lane.loop, overlap.lane.tests) for overlap in cell.overlaps()}
    assert ways == {(loop, count) for loop in ("time", "work") for count in tests}
    for lane in cell.lanes.values():
        assert 0 < lane.p10_us <= lane.median_us <= lane.p90_us
        assert lane.batches >= 3
        parts = lane.start_us + lane.compute_us + lane.test_us + lane.wait_us
        assert (parts > 0) == lane.apart


@each_mpi
def test_every_collective_is_timed_in_all_forms_and_right(mpi: mpis.Mpi) -> None:
    request = Request(runner.Request(COLLECTIVES, [8], ranks=2, seconds=0.001), tests=[0, 2])
    cells = nonblocking_cells.cells(_run(mpi, request))
    assert [cell.collective for cell in cells] == list(COLLECTIVES)
    for cell in cells:
        assert cell.median("blocking")
        assert cell.median("nonblocking")
        assert cell.median("persistent") or cell.is_wrong("persistent") or not cell.lane("persistent")
        if not cell.is_wrong("persistent"):
            _check(cell, [0, 2])


@each_mpi
def test_both_sides_run_in_one_process(mpi: mpis.Mpi) -> None:
    request = Request(runner.Request(["allreduce"], [8, 4096], ranks=2, seconds=0.01), tests=[1])
    lanes = _run(mpi, request, with_hocket=True)
    assert {(lane.side, lane.bytes) for lane in lanes} == {
        (side, size) for side in ("native", "hocket") for size in (8, 4096)
    }
    assert all(lane.valid for lane in lanes)


def test_other_roots_types_and_odd_ranks_are_right() -> None:
    cells = runner.Request(COLLECTIVES, [24], ranks=3, seconds=0.001, type="int", root=2)
    assert all(lane.valid for lane in _run(INSTALLED[0], Request(cells, tests=[0])))


def test_the_computation_is_as_long_as_it_was_asked_to_be() -> None:
    """At least so long; and no longer, where nobody else was on the core in one of a few runs."""
    cells = runner.Request(["barrier"], [8], ranks=2, seconds=0.01)
    took: list[float] = []
    while len(took) < 5 and (not took or min(took) > 250):
        lanes = _run(INSTALLED[0], Request(cells, tests=[0], compute_us=200))
        took += [lane.compute_us for lane in lanes if lane.loop == "time"]
    assert 150 <= min(took) <= 250


def _timeline(mpi: mpis.Mpi, scenario: Scenario) -> tuple[list[Span], list[Waits]]:
    spans: list[Span] = []
    waits: list[Waits] = []

    def keep(fresh: list[Span], more: list[Waits]) -> None:
        spans.extend(fresh)
        waits.extend(more)

    timeline.run(mpi, scenario, False, keep)
    return spans, waits


def _on_tracks(spans: list[Span]) -> list[list[Span]]:
    def track(span: Span) -> tuple[Any, ...]:
        return (*span.scene(), span.rank)

    return [list(some) for _, some in groupby(sorted(spans, key=track), key=track)]


@each_mpi
def test_spans_follow_each_other_on_every_track(mpi: mpis.Mpi) -> None:
    request = runner.Request(["bcast", "allreduce"], [1024], ranks=2)
    scenario = Scenario(request, Skew(300.0), Noise(2000, 20), tests=4, operations=5, seed=3)
    spans, waits = _timeline(mpi, scenario)
    tracks = _on_tracks(spans)
    assert len(tracks) == len(waits) == 2 * 2 * 2
    for track in tracks:
        assert {span.operation for span in track} == set(range(5))
        assert all(span.begin_us <= span.end_us for span in track)
        assert all(one.end_us <= next_.begin_us for one, next_ in pairwise(track))
    assert {span.kind for span in spans} == set(timeline.KINDS) - ({"wait"} - {span.kind for span in spans})


@each_mpi
def test_the_late_rank_is_the_one_that_was_named_or_drawn(mpi: mpis.Mpi) -> None:
    request = runner.Request(["allreduce"], [8], ranks=2)
    _, named = _timeline(mpi, Scenario(request, Skew(100.0, 1), operations=4))
    assert [one.late for one in named if one.form == "blocking"] == [0, 4]
    _, drawn = _timeline(mpi, Scenario(request, Skew(100.0), operations=12))
    assert sum(one.late for one in drawn if one.form == "blocking") == 12
    _, again = _timeline(mpi, Scenario(request, Skew(100.0), operations=12))
    assert [one.late for one in drawn] == [one.late for one in again]


def test_the_command_writes_a_table_records_and_a_trace(hocket: Hocket, tmp_path: Path) -> None:
    out, trace = tmp_path / "waits.jsonl", tmp_path / "trace.json"
    done = hocket(
        *("bench", "--nonblocking", "--untouched", "-n", "2", "--against", INSTALLED[0].name),
        *("--skew", "200:0", "--operations", "3", "--out", str(out), "--trace", str(trace)),
    )
    assert done.returncode == 0, done.stderr
    assert "bcast" in done.stdout
    assert len(timeline.WAITS.read(out)) == 4
    assert "bcast" in hocket("bench", "--show", str(out)).stdout
    events = json.loads(trace.read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "s", "f"}


def test_the_command_shows_costs_and_overlap(hocket: Hocket, tmp_path: Path) -> None:
    out = tmp_path / "lanes.jsonl"
    done = hocket(
        *("bench", "alltoall", "--nonblocking", "--untouched", "-n", "2", "--against", INSTALLED[0].name),
        *("--sizes", "8", "--seconds", "0.01", "--tests", "0", "--out", str(out)),
    )
    assert done.returncode == 0, done.stderr
    assert "Overlap with computation" in done.stdout
    assert "alltoall" in hocket("bench", "--show", str(out)).stdout
    page = tmp_path / "performance.md"
    (tmp_path / "results" / "nonblocking").mkdir(parents=True)
    out.rename(tmp_path / "results" / "nonblocking" / "lanes.jsonl")
    hocket("bench", "--render", "--results", str(tmp_path / "results"), "--page", str(page))
    assert "alltoall" in page.with_name("nonblocking.md").read_text()
