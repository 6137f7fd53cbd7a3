"""hocket bench --workers: its figures, the page made of them, and a small run in a lab."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from built_programs import mpis_with
from hocket import _paths, mpis
from hocket.bench import machine, program, workers, workers_figures, workers_page, workers_plan
from hocket.bench.applications import Timed
from hocket.bench.jsonl import beside
from hocket.bench.workers import Metadata, Place, WorkerLane
from hocket.bench.workers_figures import Figures
from hocket.errors import CommandError
from hocket.lab.shape import Shape
from lab_needs import why_no_lab

Hocket = Callable[..., subprocess.CompletedProcess[str]]
OPEN_MPI = mpis.Mpi("openmpi", "ompi", Path("mpirun"))
ORIGIN: dict[str, Any] = {
    **{"date": "2026-01-02T03:04:05+00:00", "cpu": "a cpu", "cores": 2, "load": 0.1},
    **{"mpi": "openmpi", "mpi_version": "5.0"},
}
PLACE = {"nodes": 2, "ppn": 1, "rate": 100_000_000}


def _lane(side: str, form: str, loop: str, median: float, **changes: Any) -> WorkerLane:
    fields: dict[str, Any] = {
        **{**ORIGIN, **PLACE, "ranks": 2, "collective": "alltoall", "bytes": 1 << 20, "type": "float"},
        **{"root": 0, "side": side, "form": form, "loop": loop, "tests": 0, "apart": True, "batches": 9},
        **{"k": 1, "valid": True, "make_us": 0.0, "median_us": median, "p10_us": median, "p90_us": median},
        "workers": 1,
    }
    return WorkerLane(**{**fields, **changes})


def _job(hidden: float = 100.0, run: int = 0, **changes: Any) -> list[WorkerLane]:
    """An operation of 1000 us beside computation of 1000 us, of which so many percent hide; natively none."""
    both = 2000.0 - 10 * hidden
    return [
        lane
        for side, together in (("hocket", both), ("native", 2000.0))
        for lane in (
            _lane(side, "blocking", "none", 800.0, run=run, **changes),
            _lane(side, "nonblocking", "none", 1000.0, run=run, **changes),
            _lane(side, "nonblocking", "alone", 1000.0, compute_us=1000.0, run=run, **changes),
            _lane(side, "nonblocking", "time", together, compute_us=1000.0, run=run, **changes),
            _lane(
                side,
                "nonblocking",
                "work",
                together,
                compute_us=1000.0,
                cpu_us=20.0,
                worker_us=150.0,
                run=run,
                **changes,
            ),
        )
    ]


def _figure(found: Figures, figure: Callable[[workers_figures.Run], float | None]) -> float:
    spread = found.of(figure)
    assert spread
    return spread.median


def test_figures_are_medians_of_jobs() -> None:
    (found,) = workers_figures.figures([*_job(90, 0), *_job(100, 1), *_job(98, 2)])
    assert (found.place, found.collective, found.bytes) == (Place(2, 1, 10**8), "alltoall", 1 << 20)
    assert len(found.runs) == 3
    run = workers_figures.Run
    assert _figure(found, run.hidden) == pytest.approx(98)
    assert _figure(found, run.hidden_natively) == pytest.approx(0)
    assert _figure(found, run.hidden_of_work) == pytest.approx(98)
    assert _figure(found, run.in_mpi) == pytest.approx(2)
    assert _figure(found, run.by_worker) == pytest.approx(15)
    assert _figure(found, run.total) == pytest.approx(2000 / 1020)
    assert _figure(found, run.latency) == pytest.approx(1.25)


def _by_sockets(together: float) -> list[WorkerLane]:
    """The same operation by sockets, of 950 us."""
    return [
        _lane("native", "sockets", loop, median, compute_us=compute, worker_us=38.0)
        for loop, median, compute in (
            *(("none", 950.0, 0.0), ("alone", 1000.0, 1000.0)),
            *(("time", together, 1000.0), ("work", together, 1000.0)),
        )
    ]


def test_sockets_alone_stand_beside_workers_with_and_without_a_shared_heap() -> None:
    lanes = [*_job(90), *_by_sockets(1019.0), *_job(96, shared_heap=1)]
    (row,) = workers_page.bound_rows(workers_figures.figures(lanes))
    assert dict(zip(workers_page.BOUND_HEADER[5:], row[5:], strict=True)) == {
        "runs": "1",
        **{"hidden %, sockets": "98", "hidden %, worker": "90", "hidden %, mapped": "96"},
        **{"fixed work, %, sockets": "98", "fixed work, %, worker": "90", "fixed work, %, mapped": "96"},
        **{"core %, sockets": "4", "core %, worker": "15", "core %, mapped": "15"},
        **{"total, times, sockets": "1.96", "total, times, worker": "1.82", "total, times, mapped": "1.92"},
    }
    assert not workers_page.bound_rows(workers_figures.figures(_job(90)))


def test_a_side_that_was_not_measured_is_no_run() -> None:
    assert not workers_figures.figures([lane for lane in _job() if lane.side == "hocket"])


def test_misses_are_marked() -> None:
    (good,) = workers_page.overlap_rows(workers_figures.figures(_job(96)))
    assert not any("missed" in cell for cell in good)
    (bad,) = workers_page.overlap_rows(workers_figures.figures(_job(90)))
    assert [cell for cell in bad if "missed" in cell] == ["**90, missed**"]


def test_workers_on_cards_and_on_a_shared_heap_have_tables_of_their_own() -> None:
    lanes = [*_job(96), *_job(90, card_cores=0.5, card_us=400.0), *_job(97, shared_heap=1)]
    found = workers_figures.figures(lanes)
    (plain,), (heap,) = workers_page.overlap_rows(found), workers_page.overlap_rows(found, 1)
    assert (plain[8], heap[8]) == ("96", "97")
    (remote,) = workers_page.remote_rows(found)
    assert remote[2] == "2 nodes of 1, 100mbit, cards of 0.5 cores"
    assert remote[11:13] == ["15", "40"]


def test_without_a_core_the_wish_is_judged_alone() -> None:
    full: dict[str, Any] = {"nodes": 1, "ppn": 2}
    lanes = [*_job(0, workers=0, **full), *_job(0, workers=1, **full)]
    lanes += [lane for lane in _job(0, workers=1, bytes=8, **full) if lane.side == "hocket"]
    found = workers_figures.figures(lanes)
    assert not workers_page.overlap_rows(found)
    (row,) = workers_page.without_core_rows(found)
    assert row[-1] == "1.00"


def test_on_one_node_workers_are_compared_with_the_ranks_themselves() -> None:
    there: dict[str, Any] = {"cores": 16, "nodes": 1, "ppn": 8}
    lanes = [
        *_job(96, workers=1, **there),
        *_job(97, workers=2, shared_heap=1, **there),
        *_job(60, workers=0, **there),
    ]
    found = workers_figures.figures(lanes)
    assert not (workers_page.overlap_rows(found) or workers_page.without_core_rows(found))
    assert {row[5]: row[8] for row in workers_page.node_rows(found)} == {
        "a worker": "96",
        "2 workers, shared heap": "97",
        "the ranks": "60",
    }


def test_wrong_results_are_told() -> None:
    lanes = [*_job()[1:], _lane("hocket", "nonblocking", "none", 0.0, apart=False, valid=False)]
    (row,) = workers_page.overlap_rows(workers_figures.figures(lanes))
    assert "**wrong results**" in row


def _metadata(**changes: Any) -> Metadata:
    fields: dict[str, Any] = {
        **{**ORIGIN, **PLACE, "ranks": 2, "bytes": 1024, "calls": 100, "call_bytes": 24.0},
        **{"buffers_bytes": 226.0, "known_start_us": 6.0, "known_us": 300.0, "new_start_us": 9.0},
        **{"new_us": 320.0, "persistent_start_us": 5.0, "persistent_us": 300.0, "run": 0},
    }
    return Metadata(**{**fields, **changes})


def test_metadata_are_compared_with_a_persistent_start() -> None:
    (row,) = workers_page.metadata_rows([_metadata(), _metadata(run=1)])
    assert row[5:8] == ["250", "24", "10.4"]
    assert row[-1] == "4.0"
    (row,) = workers_page.metadata_rows([_metadata(buffers_bytes=161.0, new_start_us=7.0)])
    assert [cell for cell in row if "missed" in cell] == ["**7.7, missed**", "**2.0, missed**"]


def _timed(side: str, form: str, seconds: float, variant: str = "slab") -> Timed:
    return Timed(
        **ORIGIN, ranks=2, application="fft3d", problem="--nx 8", form=form, variant=variant, side=side,
        runs=5, median_s=seconds, p10_s=seconds, p90_s=seconds, communication_share=0.5, valid=True,
        link="2 nodes of 1, 500mbit",
    )  # fmt: skip


def test_applications_are_compared_with_the_best_form_alone() -> None:
    runs = [_timed("untouched", "blocking", 0.3), _timed("untouched", "nonblocking", 0.24)]
    runs += [_timed("hocket", "nonblocking", 0.2), _timed("hocket", "blocking", 0.3)]
    (row,) = workers_page.application_rows(runs)
    assert row[5:7] == ["240.0 (240.0-240.0)", "nonblocking slab"]
    assert row[-1] == "1.20"


def test_applications_launched_alike_are_compared() -> None:
    runs = [_timed("untouched", "blocking", 0.1), _timed("hocket", "blocking", 0.1)]
    runs += [_timed("untouched", "nonblocking", seconds, f"tile {seconds}") for seconds in (0.2, 0.3)]
    runs += [_timed("hocket", "nonblocking", 0.2, f"tile {tile}") for tile in (0.2, 0.3, 0.4)]
    small, large = workers_page.alike_rows(runs)
    assert small[5:] == ["tile 0.2", "200.0 (200.0-200.0)", "200.0 (200.0-200.0)", "**1.00, missed**"]
    assert (large[5], large[-1]) == ("tile 0.3", "1.50")


def test_the_page_says_what_was_measured(tmp_path: Path) -> None:
    text = workers_page.page(_job(), [_timed("untouched", "blocking", 0.3)], [_metadata()])
    assert "| 2 | openmpi | 2 nodes of 1, 100mbit | 1 | alltoall | 1 MiB | 1 |" in text
    assert "## Buffers that are known" in text
    assert "Nothing has been measured" in workers_page.page([], [], [])


def test_a_plan_has_the_parts_that_are_wanted() -> None:
    jobs = list(workers_plan.jobs(OPEN_MPI, workers_plan.Wanted(parts=["core", "metadata"], runs=2)))
    assert [job.ending for job in jobs] == ["-metadata", "-metadata", "", ""] * 2
    both = [job.words for job in jobs if not job.ending]
    assert both[:2] == both[:1:-1]  # in turns
    with pytest.raises(CommandError, match="no part named 'nothing'"):
        workers_plan.Wanted(parts=["nothing"])


def test_where_cores_are_to_spare_several_workers_serve_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    def words(cores: int) -> list[str]:
        monkeypatch.setattr(machine, "cores", lambda: cores)
        return [job.words for job in workers_plan.jobs(OPEN_MPI, workers_plan.Wanted(["spare"], runs=1))]

    of_16 = [tuple(word.split(", ")) for word in words(16)]
    assert {place for place, *_ in of_16} == {"1 node of 2", "1 node of 4", "1 node of 8"}
    of_8 = [rest for place, _, *rest in of_16 if place == "1 node of 8"]
    both = [[[f"workers {count}"], [f"workers {count}", "shared heap"]] for count in (1, 2, 4)]
    assert of_8 == [["no workers wanted"], *both[0], *both[1], *both[2]]
    assert len(words(4)) == 3
    assert words(2) == []


def test_a_place_is_a_lab_of_switches_with_a_node_each() -> None:
    assert Place(2, 1, 10**8).shape() == Shape(leaves=2, nodes=1, rate=10**8, uplink=10**8)


INSTALLED = [mpi for mpi in mpis_with(program.nonblocking_program) if mpi.name == "openmpi"]


def _why_no_workers() -> str:
    worker = _paths.prefix() / "lib" / "hocket" / "hocketd"
    if not (INSTALLED and worker.exists()):
        return "Open MPI or Hocket is not built"
    done = subprocess.run([worker, "--network"], capture_output=True, text=True, timeout=60)
    return done.stderr.strip() if done.returncode else ""


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.skipif(bool(why_no_lab()), reason=why_no_lab())
@pytest.mark.skipif(bool(_why_no_workers()), reason=_why_no_workers())
def test_it_runs_in_the_lab(hocket: Hocket, tmp_path: Path) -> None:
    out = tmp_path / "lanes.jsonl"
    wanted = ("alltoall", "--sizes", "256K", "--only", "overlap,metadata", "--out", str(out))
    done = hocket("bench", "--workers", "--quick", *wanted, limit=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lanes = workers.LANES.read(out)
    assert all(lane.valid and lane.workers == 1 for lane in lanes)
    assert {figures.place.rate for figures in workers_figures.figures(lanes)} == {10**8, 5 * 10**8}
    computing = [lane for lane in lanes if lane.loop == "time" and lane.form == "nonblocking"]
    assert all(lane.cpu_us > 0 for lane in computing)
    assert {lane.side for lane in lanes if lane.form == "sockets"} == {"native"}
    assert any(lane.worker_us > 0 for lane in computing if lane.side == "hocket")
    for told in workers.METADATA.read(beside(out, "-metadata")):
        assert 0 < told.call_bytes < told.buffers_bytes
        assert 0 < told.known_start_us < told.known_us
    assert "hidden" in hocket("bench", "--show", str(out)).stdout
