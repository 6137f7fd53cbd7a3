"""hocket bench --topology: its values, the page made of them, and one small run in a lab."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from built_programs import mpis_with
from hocket import _paths, mpis
from hocket.bench import (
    program,
    topology,
    topology_cells,
    topology_directions,
    topology_expectations,
    topology_experiments,
    topology_uplinks,
)
from hocket.bench import topology_page as pages
from hocket.bench.topology import Run
from hocket.bench.topology_experiments import Case, Situation
from hocket.commands import bench_topology
from hocket.errors import CommandError
from hocket.lab import tree
from hocket.lab.statistics import Counted, Link
from lab_needs import why_no_lab

Hocket = Callable[..., subprocess.CompletedProcess[str]]
OPEN_MPI = mpis.Mpi("openmpi", "ompi", Path("mpirun"))
MPICH = mpis.Mpi("mpich", "mpich", Path("mpiexec"))
HOCKET, NATIVE, BINOMIAL = "hocket:linear by leaves", "native", "native:binomial"


def _run(side: str = HOCKET, median: float = 1000.0, **changes: Any) -> Run:
    fields: dict[str, Any] = {
        **{"date": "2026-01-02T03:04:05+00:00", "cpu": "a cpu", "cores": 2, "load": 0.1},
        **{"mpi": "openmpi", "mpi_version": "5.0", "experiment": "rooted", "collective": "gather"},
        **{"bytes": 8, "leaves": 4, "nodes": 4, "ppn": 1, "ranks": 16, "rate": 10**8, "uplink": 10**8},
        **{"latency_us": 500, "placement": "scattered", "traffic": 0, "side": side, "run": 0},
        **{"median_us": median, "p10_us": median, "p90_us": median, "batches": 9, "valid": True},
    }
    return Run(**{**fields, **changes})


def _only_cell(runs: list[Run]) -> topology_cells.Cell:
    (cell,) = topology_cells.cells(runs)
    return cell


def test_records_survive_a_file_and_wrong_ones_are_named(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    topology.RUNS.append(file, [_run(), _run(NATIVE, uplink_bytes=12.5)])
    assert topology.RUNS.read(file) == [_run(), _run(NATIVE, uplink_bytes=12.5)]
    for change in ({"side": "left"}, {"collective": "hop"}, {"placement": "round"}):
        file.write_text(json.dumps({**dataclasses.asdict(_run()), **change}) + "\n")
        with pytest.raises(CommandError, match="line 1: no such run"):
            topology.RUNS.read(file)


@pytest.mark.parametrize("experiment", topology_experiments.EXPERIMENTS, ids=lambda one: one.name)
def test_an_experiment_can_be_run(experiment: topology_experiments.Experiment) -> None:
    for one in (experiment, topology_experiments.in_small(experiment)):
        for situation in one.situations:
            nodes = tree.build(situation.shape())
            chosen = tree.choose_nodes(nodes, situation.with_ranks())
            assert len(chosen) * situation.ppn == situation.ranks
            assert not set(chosen) & set(
                tree.choose_nodes(nodes, ",".join(situation.with_traffic()) or "n0")[1:]
            )
        for case in one.cases:
            assert case.recipes and all(size % 8 == 0 for size in case.sizes)
            for name in case.natives:
                assert any(
                    name in table[case.collective] for table in topology_experiments.ALGORITHMS.values()
                )


def test_every_side_is_measured_in_each_run_and_meets_others() -> None:
    case = Case("gather", (8,), ("a", "b", "c"), ("binomial", "linear", "linear_sync"))
    natives = topology.natives(OPEN_MPI, case)
    assert natives == ["", "binomial", "linear", "linear_sync"]
    assert topology.natives(MPICH, case) == ["", "binomial"]
    first, second = (topology.pairs(natives, case.recipes, run) for run in range(2))
    assert {native for native, _ in first} == set(natives)
    assert {recipe for _, recipe in first} == set(case.recipes)
    assert len(first) == 4 and not set(first) & set(second)
    assert topology.pairs([""], ["a", "b"], 0) == [("", "a"), ("", "b")]


def test_runs_come_outermost_and_long_cases_less_often() -> None:
    (experiment,) = topology_experiments.chosen("allreduce")
    jobs = list(topology.plan(experiment, OPEN_MPI, 3))
    assert [job.run for job in jobs] == sorted(job.run for job in jobs)
    assert {job.run for job in jobs if job.case.sizes == (16 << 20,)} == {0, 1}
    assert {job.situation.placement for job in jobs if job.run == 2} == {"cyclic", "block"}


def test_an_mpi_is_told_its_algorithm_in_its_own_words() -> None:
    assert topology_experiments.forced("ompi", "gather", "") == {}
    ompi = topology_experiments.forced("ompi", "gather", "binomial")
    assert ompi["OMPI_MCA_coll_tuned_gather_algorithm"] == "2"
    assert ompi["OMPI_MCA_coll_tuned_use_dynamic_rules"] == "1"
    mpich = topology_experiments.forced("mpich", "alltoall", "bruck")
    assert mpich == {"MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM": "brucks"}


def test_traffic_has_nodes_of_its_own_under_each_leaf() -> None:
    situation = Situation(leaves=2, nodes=2, traffic=1)
    assert situation.with_ranks() == "n0,n1,n3,n4"
    assert situation.with_traffic() == ["n2", "n5"]
    assert (situation.shape().all_nodes, situation.ranks) == (6, 4)


def test_runs_of_a_side_are_a_median_with_its_spread() -> None:
    cell = _only_cell([*(_run(median=each) for each in (3.0, 1.0, 2.0)), _run(NATIVE, 4.0)])
    ours = cell.best_hocket()
    assert ours and (ours.median_us, ours.least_us, ours.most_us, ours.runs) == (2.0, 1.0, 3.0, 3)
    assert cell.ratio() == 2.0


def test_a_ratio_is_of_the_best_recipe_over_the_best_of_the_mpi_or_one_of_its_algorithms() -> None:
    cell = _only_cell([
        *(_run(median=10.0), _run("hocket:linear", 5.0), _run("hocket:ring", 1.0, valid=False)),
        *(_run(NATIVE, 20.0), _run(BINOMIAL, 40.0), _run("native:linear", 8.0)),
    ])  # fmt: skip
    assert cell.ratio() == pytest.approx(1.6)
    assert cell.ratio("binomial") == pytest.approx(8.0)
    assert cell.ratio("ring") is None
    best = cell.best_native()
    assert best and best.words == "linear"


def test_bounds_are_of_the_link_with_the_most_to_carry() -> None:
    line = 1448 / 1514

    def bound(collective: str, size: int, **changes: Any) -> float:
        at = {"ranks": 16 * changes.get("ppn", 1), "latency_us": 0, **changes}
        return _only_cell([_run(collective=collective, bytes=size, **at)]).bound_us() or 0.0

    assert bound("gather", 1000) * line == pytest.approx(15 * 1000 * 8 / 100)
    assert bound("gather", 1000, uplink=10**7) * line == pytest.approx(12 * 1000 * 8 / 10)
    assert bound("alltoall", 100, ppn=2) * line == pytest.approx(8 * 24 * 100 * 8 / 100)
    assert bound("allreduce", 16000) * line == pytest.approx(2 * 15 * 1000 * 8 / 100)
    assert bound("gather", 1000, latency_us=500) * 8948 / 9014 == pytest.approx(15 * 1000 * 8 / 100)
    assert bound("barrier", 0) == 0.0


def test_targets_are_judged_where_they_are_meant() -> None:
    small = [_run(median=10.0), _run(NATIVE, 10.0), _run(BINOMIAL, 21.0)]
    (verdict,) = topology_cells.verdicts("rooted", _only_cell(small))
    assert (verdict.is_met, str(verdict)) == (False, "2.10x over binomial (at least 2.17x)")
    large = [dataclasses.replace(run, bytes=65536) for run in small]
    (verdict,) = topology_cells.verdicts("rooted", _only_cell(large))
    assert verdict.is_met and "over the best" in str(verdict)
    alltoall = [dataclasses.replace(run, collective="alltoall", bytes=4096, latency_us=0) for run in small]
    (verdict,) = topology_cells.verdicts("alltoall", _only_cell(alltoall))
    assert verdict.target.of_bound and verdict.is_met
    assert topology_cells.verdicts("gone", _only_cell(small)) == []


def test_payload_is_what_packets_carry_beside_their_headers() -> None:
    full, acknowledgements = Counted(10 * 1514, 10, 0), Counted(5 * 66, 5, 0)
    assert topology_uplinks.payload(full) == 10 * 1448
    assert topology_uplinks.payload(acknowledgements) == 0
    quiet = Counted(0, 0, 0)
    links = [Link("n0", "leaf0", Counted(10**9, 1, 0), quiet), Link("leaf0", "spine", acknowledgements, full)]
    assert topology_uplinks.busiest(links) == 10 * 1448


def test_how_a_job_starts_and_ends_is_taken_off_a_count() -> None:
    start, blocks, calls = 54321, 12, 18
    much, little = (start + calls * blocks * size for size in (1008, 8))
    assert topology_uplinks.per_call(much, little, 1008) == pytest.approx(12 * 1008)


def test_what_schedules_send_over_uplinks_stands_beside_the_count() -> None:
    runs = [
        _run(bytes=1000, median=0.0, uplink_bytes=12100.0),
        _run("hocket:linear", bytes=1000, median=0.0, uplink_bytes=13000.0),
        _run(BINOMIAL, bytes=1000, median=0.0, uplink_bytes=15000.0),
    ]
    rows = {row[3]: row[4:] for row in pages.uplink_rows(runs)}
    assert rows[HOCKET] == ["12,100", "12,000", "+0.83 %"]
    assert rows["hocket:linear"][-1] == "**+8.33 %, missed**"
    assert rows[BINOMIAL] == ["15,000", "-", "-"]
    assert topology_cells.cells(runs) == []


def test_all_recipes_whose_bytes_are_counted_fit_there() -> None:
    (experiment,) = topology_experiments.chosen("uplinks")
    for case in experiment.cases:
        for recipe in case.recipes:
            assert topology_uplinks.said(_run(f"hocket:{recipe}", collective=case.collective))


def test_the_page_tells_what_was_reached_and_what_was_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "predicted_us", lambda _cell, _recipe: 750.0)
    runs = [
        *(_run(median=each) for each in (1000.0, 1100.0, 1200.0)),
        *(_run(NATIVE, 2000.0), _run(BINOMIAL, 3300.0)),
        *(
            _run(bytes=1024, median=2000.0),
            _run(NATIVE, 1000.0, bytes=1024),
            _run(BINOMIAL, 2000.0, bytes=1024),
        ),
        _run("hocket:ring by leaves", experiment="gone", median=5.0),
    ]
    text = pages.page(runs)
    place = "| rooted | openmpi | scattered, 16 ranks, 500us | gather |"
    assert (
        f"{place} **1 of 2** | 1 KiB: 1.00x over binomial (at least 2.17x; the bound leaves 1.62x) |" in text
    )
    row = "| 8 B | 2,000 | choice | 2,000 | linear by leaves | 1,100 (1,000-1,200) | 1.82x | 1.82x | 9.7 |"
    assert f"{row} 750 | 3.00x over binomial (at least 2.17x) |" in text
    assert "**1.00x over binomial (at least 2.17x; the bound leaves 1.62x), missed** |" in text
    assert "| hocket:linear by leaves | 1,100 (1,000-1,200) | 2,000 | 3 |" in text
    assert "## gone" in text


def test_what_was_expected_stands_beside_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topology_expectations, "predicted_us", lambda cell, _recipe: 1.2 * cell.bytes)
    runs = [
        *(_run(bytes=size, median=float(size)) for size in (8, 65536)),
        *(_run("hocket:linear", bytes=65536, median=1.2 * 65536), _run(NATIVE, bytes=65536)),
        _run("hocket:knomial", bytes=65536, median=1.0, traffic=1),
    ]
    found = topology_expectations.expectations(runs)
    like_a_row = topology_expectations.expectations(
        [_run(BINOMIAL, bytes=65536), _run("native:tree", bytes=65536)]
    )
    assert [one.side.name for one in like_a_row] == [BINOMIAL]
    assert [(one.side.words, one.cell.bytes, round(one.error, 2)) for one in found] == [
        ("linear by leaves", 8, 0.2),
        ("linear", 65536, 0.0),
        ("linear by leaves", 65536, 0.2),
    ]
    assert topology_expectations.median_error(found) == pytest.approx(0.1)
    assert topology_expectations.median_error(found[:1]) is None
    text = pages.page(runs)
    assert "From 64 KiB on the median error of 2 is 10 % (target 15 %)." in text
    assert "| 64 KiB | linear by leaves | 65,536 | 78,643 | **+20 %, missed** |" in text
    assert "| 8 B | linear by leaves | 8.0 | 9.6 | +20 % |" in text


def test_a_gather_stands_beside_its_scatter(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        *(_run(BINOMIAL, 1000.0), _run(BINOMIAL, 800.0, collective="scatter"), _run(NATIVE, 5.0)),
        *(_run(HOCKET, 5.0), _run(HOCKET, 5.0, collective="scatter", valid=False)),
    ]
    (pair,) = topology_directions.pairs(topology_cells.cells(runs))
    assert (pair.side, pair.bytes) == (BINOMIAL, 8)
    assert pair.ratio == pytest.approx(1.25)
    monkeypatch.setattr(topology_experiments, "EXPERIMENTS", topology_experiments.EXPERIMENTS[:1])
    assert "| openmpi | scattered, 16 ranks, 500us | native:binomial | 1.25 |" in pages.page(runs)


def test_a_wrong_result_wins_nothing_and_is_told(tmp_path: Path) -> None:
    runs = [_run(valid=False), _run(NATIVE, 5.0)]
    assert "wrong result" in pages.page(runs)
    assert _only_cell(runs).ratio() is None
    topology.RUNS.append(tmp_path / "wrong.jsonl", runs)
    with pytest.raises(CommandError, match="wrong results: gather"):
        bench_topology.show_file(tmp_path / "wrong.jsonl")


def test_a_page_without_records_still_says_what_it_is() -> None:
    assert "Nothing has been measured yet." in pages.page([])


def test_pictures_are_drawn_beside_the_page(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runs = [_run(side, bytes=size) for side in (HOCKET, NATIVE, BINOMIAL) for size in (8, 1024)]
    (picture,) = pages.draw(runs, tmp_path)
    assert picture.name == "topology-rooted.png" and picture.stat().st_size > 1000
    assert f"]({picture.name})" in pages.page(runs, tmp_path)
    assert pages.draw([_run(experiment="others")], tmp_path) == []


def test_an_experiment_can_be_narrowed() -> None:
    (experiment,) = topology_experiments.chosen("allreduce")
    small = topology_experiments.narrowed(experiment, ["allreduce"], [65536])
    assert [case.sizes for case in small.cases] == [(65536,)]
    assert not topology_experiments.narrowed(experiment, ["bcast"], []).cases
    assert topology_experiments.narrowed(experiment, [], []) == experiment


def test_sizes_that_no_experiment_has_are_refused(hocket: Hocket) -> None:
    done = hocket("bench", "--topology", "--only", "rooted", "--sizes", "24")
    assert done.returncode == 2
    assert "no experiment has these" in done.stderr


def test_experiments_have_names(hocket: Hocket) -> None:
    done = hocket("bench", "--topology", "--only", "nothing")
    assert done.returncode == 2
    assert "no experiment named 'nothing'" in done.stderr


INSTALLED = [mpi for mpi in mpis_with(program.bench_program) if mpi.name == "openmpi"]


@pytest.mark.slow
@pytest.mark.skipif(bool(why_no_lab()), reason=why_no_lab())
@pytest.mark.skipif(
    not (INSTALLED and _paths.hocket_exec().exists()), reason="Open MPI or Hocket is not built"
)
def test_a_small_experiment_runs_in_the_lab(hocket: Hocket, tmp_path: Path) -> None:
    out = tmp_path / "runs.jsonl"
    done = hocket("bench", "--topology", "--quick", "--only", "rooted", "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    runs = topology.RUNS.read(out)
    assert {run.side for run in runs} == {HOCKET, NATIVE, BINOMIAL}
    assert all(run.valid and 0 < run.p10_us <= run.median_us <= run.p90_us for run in runs)
    assert "linear by leaves" in hocket("bench", "--show", str(out)).stdout
