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
    topology_algorithms,
    topology_cells,
    topology_directions,
    topology_expectations,
    topology_experiments,
    topology_plan,
    topology_prediction,
    topology_setup,
    topology_targets,
    topology_traffic,
    topology_uplinks,
)
from hocket.bench import topology_page as pages
from hocket.bench.jsonl import beside
from hocket.bench.topology import Run
from hocket.bench.topology_experiments import BY_RULES, Case, Situation, Target
from hocket.bench.topology_verdicts import State, Verdict, verdicts
from hocket.commands import bench_topology
from hocket.errors import CommandError
from hocket.lab import tree
from hocket.lab.statistics import Counted, Link
from lab_needs import why_no_lab

Hocket = Callable[..., subprocess.CompletedProcess[str]]
OPEN_MPI = mpis.Mpi("openmpi", "ompi", Path("mpirun"))
MPICH = mpis.Mpi("mpich", "mpich", Path("mpiexec"))
HOCKET, NATIVE, BINOMIAL = "hocket:linear by leaves", "native", "native:binomial"
LINEAR, RULES = "native:linear", "hocket"


def _run(side: str = HOCKET, median: float = 1000.0, **changes: Any) -> Run:
    fields: dict[str, Any] = {
        **{"date": "2026-01-02T03:04:05+00:00", "cpu": "a cpu", "cores": 2, "load": 0.1},
        **{"mpi": "openmpi", "mpi_version": "5.0", "experiment": "rooted", "collective": "gather"},
        **{"bytes": 8, "leaves": 4, "nodes": 4, "ppn": 1, "ranks": 16, "rate": 10**8, "uplink": 10**8},
        **{"latency_us": 500, "placement": "scattered", "traffic": 0, "side": side, "run": 0},
        **{"median_us": median, "p10_us": median, "p90_us": median, "batches": 9, "valid": True},
    }
    return Run(**{**fields, **changes})


def _runs(side: str = HOCKET, median: float = 1000.0, count: int = 5, **changes: Any) -> list[Run]:
    return [_run(side, median, run=number, **changes) for number in range(count)]


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
                    name in table[case.collective] for table in topology_algorithms.ALGORITHMS.values()
                )


def test_every_side_is_measured_in_each_run_and_meets_others() -> None:
    case = Case("gather", (8,), ("a", "b", "c"), ("binomial", "linear", "linear_sync"))
    natives = topology_plan.natives(OPEN_MPI, case)
    assert natives == ["", "binomial", "linear", "linear_sync"]
    assert topology_plan.natives(MPICH, case) == ["", "binomial"]
    first, second = (topology_plan.pairs(natives, case.recipes, run) for run in range(2))
    assert {native for native, _ in first} == set(natives)
    assert {recipe for _, recipe in first} == set(case.recipes)
    assert len(first) == 4 and not set(first) & set(second)
    assert topology_plan.pairs([""], ["a", "b"], 0) == [("", "a"), ("", "b")]


def test_runs_come_outermost_and_long_cases_less_often() -> None:
    (experiment,) = topology_experiments.chosen("allreduce")
    jobs = list(topology_plan.plan(experiment, OPEN_MPI, 5))
    is_long = [job.case.sizes == (16 << 20,) for job in jobs]
    assert is_long == sorted(is_long)
    for long in (False, True):
        some = [job for job in jobs if (job.case.sizes == (16 << 20,)) == long]
        assert [job.run for job in some] == sorted(job.run for job in some)
        assert {job.run for job in some} == set(range(3 if long else 5))
        assert {job.situation.placement for job in some if job.run == 2} == {"cyclic", "block"}


def test_what_is_judged_comes_first() -> None:
    judged = [experiment.is_judged for experiment in topology_experiments.EXPERIMENTS]
    assert judged == sorted(judged, reverse=True)


def test_what_the_rules_take_is_measured_in_each_run() -> None:
    (experiment,) = topology_experiments.chosen("rooted")
    jobs = list(topology_plan.plan(experiment, OPEN_MPI, 2))
    assert {job.run for job in jobs if job.recipe == BY_RULES} == {0, 1}
    assert {job.native for job in jobs if job.recipe == BY_RULES} == {""}  # it may be left to the MPI
    (job, *_) = (job for job in jobs if job.recipe == BY_RULES)
    assert RULES in job.sides() and "HOCKET_FORCE" not in topology._variables(OPEN_MPI, job)
    assert "HOCKET_FORCE" in topology._variables(OPEN_MPI, jobs[0])


def test_only_what_has_too_few_runs_is_measured_again() -> None:
    experiment = topology_experiments.narrowed(
        topology_experiments.named("rooted"), ["gather"], [8, 1024], {"traffic": "0", "latency_us": "500"}
    )
    jobs = [(OPEN_MPI, job) for job in topology_plan.plan(experiment, OPEN_MPI, 5)]
    case, (situation,) = experiment.cases[0], experiment.situations
    natives = [topology.native_side(name) for name in topology_plan.natives(OPEN_MPI, case)]
    forced = [topology.hocket_side(name) for name in case.recipes]
    known = [run for side in (*natives, *forced) for size in (8, 1024) for run in _runs(side, bytes=size)]
    assert known[0].situation() == situation
    left = list(topology_plan.lacking(jobs, known, 5))
    assert [job.recipe for _, job in left] == [BY_RULES] * 5
    known = [*known, *_runs(RULES), *_runs(RULES, bytes=1024, count=4)]
    ((_, job),) = topology_plan.lacking(jobs, known, 5)
    assert (job.recipe, job.case.sizes) == (BY_RULES, (1024,))
    assert len(list(topology_plan.lacking(jobs, [], 5))) == len(jobs)


def test_an_mpi_is_told_its_algorithm_in_its_own_words() -> None:
    assert topology_algorithms.forced("ompi", "gather", "") == {}
    ompi = topology_algorithms.forced("ompi", "gather", "binomial")
    assert ompi["OMPI_MCA_coll_tuned_gather_algorithm"] == "2"
    assert ompi["OMPI_MCA_coll_tuned_use_dynamic_rules"] == "1"
    mpich = topology_algorithms.forced("mpich", "alltoall", "bruck")
    assert mpich == {"MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM": "brucks"}


def test_traffic_has_nodes_of_its_own_under_each_leaf() -> None:
    situation = Situation(leaves=2, nodes=2, traffic=1)
    assert situation.with_ranks() == "n0,n1,n3,n4"
    assert situation.with_traffic() == ["n2", "n5"]
    assert (situation.shape().all_nodes, situation.ranks) == (6, 4)


def test_runs_of_a_side_are_a_median_with_its_spread() -> None:
    cell = _only_cell([*(_run(median=each) for each in (3.0, 1.0, 2.0)), *_runs(NATIVE, 4.0, 3)])
    ours = cell.best_hocket()
    assert ours and (ours.median_us, ours.least_us, ours.most_us, ours.runs) == (2.0, 1.0, 3.0, 3)
    assert cell.ratio() == 2.0


def test_a_ratio_is_of_the_best_recipe_over_the_best_of_the_mpi_or_one_of_its_algorithms() -> None:
    cell = _only_cell([
        *(*_runs(median=10.0), *_runs("hocket:linear", 5.0), *_runs("hocket:ring", 1.0, valid=False)),
        *(*_runs(NATIVE, 20.0), *_runs(BINOMIAL, 40.0), *_runs(LINEAR, 8.0)),
    ])  # fmt: skip
    assert cell.ratio() == pytest.approx(1.6)
    assert cell.ratio("binomial") == pytest.approx(8.0)
    assert cell.ratio("ring") is None
    best = cell.best_native()
    assert best and best.words == "linear"


def test_few_runs_make_no_ratio_and_no_best_side() -> None:
    cell = _only_cell([*_runs(median=10.0), *_runs("hocket:linear", 5.0, 2), *_runs(NATIVE, 20.0, 2)])
    best = cell.best_hocket()
    assert best and best.name == HOCKET
    assert cell.ratio() is None


def test_what_the_rules_take_stands_beside_the_best_recipe() -> None:
    runs = [*_runs(median=100.0), *_runs(RULES, 120.0, algorithm="linear"), *_runs(NATIVE, 240.0)]
    cell = _only_cell(runs)
    best, rules = cell.best_hocket(), cell.by_rules()
    assert best and best.name == HOCKET
    assert rules and rules.words == "linear"
    assert cell.regret() == pytest.approx(1.2)
    (row,) = pages.rules_rows("gone", [cell])
    assert row == ["8 B", "linear", "120 (120-120)", "1.20x", "2.00x", "2.00x", "-"]
    left = _only_cell(_runs(RULES, algorithm="native")).by_rules()
    assert left and left.words == "left to the MPI"
    assert pages.rules_rows("gone", [_only_cell(_runs())]) == []


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
    small = [*_runs(median=10.0), *_runs(NATIVE, 10.0), *_runs(BINOMIAL, 21.0), *_runs(LINEAR, 10.0)]
    (verdict,) = verdicts("rooted", _only_cell(small))
    assert (verdict.state, str(verdict)) == (State.MISSED, "2.10x over binomial, 5 runs (at least 2.17x)")
    large = [dataclasses.replace(run, bytes=65536) for run in small]
    (verdict,) = verdicts("rooted", _only_cell(large))
    assert verdict.state == State.REACHED and "over the best" in str(verdict)
    alltoall = [dataclasses.replace(run, collective="alltoall", bytes=4096, latency_us=0) for run in small]
    (verdict,) = verdicts("alltoall", _only_cell(alltoall))
    assert verdict.target.of_bound and verdict.state == State.REACHED
    assert not verdicts("gone", _only_cell(small))


def test_what_the_rules_take_is_judged_as_well() -> None:
    runs = [*_runs(median=10.0), *_runs(RULES, 20.0), *_runs(NATIVE, 10.0), *_runs(BINOMIAL, 30.0)]
    best, rules = verdicts("rooted", _only_cell(runs))
    assert (best.by_rules, best.state, rules.by_rules, rules.state) == (
        *(False, State.REACHED),
        *(True, State.MISSED),
    )


def test_what_has_too_few_runs_is_not_judged() -> None:
    def told(*runs: Run) -> str:
        (verdict,) = verdicts("rooted", _only_cell(list(runs)))
        return str(verdict)

    assert told(*_runs(median=1.0, count=4), *_runs(BINOMIAL)) == "too few runs (4 of 5)"
    assert told(*_runs(median=1.0)) == "too few runs (0 of 5)"
    large = [*_runs(bytes=65536), *_runs(NATIVE, bytes=65536), *_runs(BINOMIAL, bytes=65536)]
    assert told(*large) == "too few runs (0 of 5)"  # linear may be its best
    assert "5 runs" in told(*large, *_runs(LINEAR, bytes=65536))
    at: dict[str, Any] = {
        "collective": "allreduce",
        "bytes": 16 << 20,
        "placement": "cyclic",
        "latency_us": 0,
    }
    names = ("native", "native:ring", "native:segmented_ring", "native:rabenseifner", "hocket:ring reordered")
    long = [run for name in names for run in _runs(name, 1e8, 3, **at)]
    (verdict,) = verdicts("allreduce", _only_cell(long))
    assert (verdict.runs, verdict.state) == (3, State.MISSED)


def test_what_the_bound_forbids_is_no_plain_miss() -> None:
    target = Target(2.17, over="binomial")
    verdict = Verdict(target, False, 5, 5, 1.34, 1.31)
    text = "1.34x over binomial, 5 runs (at least 2.17x), out of reach: the bound leaves 1.31x"
    assert (verdict.state, verdict.marked) == (State.OUT_OF_REACH, text)
    missed = Verdict(target, False, 5, 5, 1.34, 3.0)
    assert missed.marked == "**1.34x over binomial, 5 runs (at least 2.17x), missed**"


def test_traffic_leaves_what_as_many_bytes_were_seen_to_take() -> None:
    beside: dict[str, Any] = {"bytes": 4096, "traffic": 1}
    slow, fast = _runs(BINOMIAL, 20000.0, **beside), _runs(LINEAR, 16000.0, **beside)
    ours = [*_runs(median=15500.0, **beside), *slow, *fast]
    of_a_leaf = {**beside, "bytes": 4 * 4096, "nodes": 1, "ranks": 4, "experiment": "left_by_traffic"}
    few = _runs(NATIVE, 1000.0, 2, **of_a_leaf)
    seen = [
        *few,
        *_runs("native:linear", 15000.0, **of_a_leaf),
        *_runs("hocket:linear", 15100.0, **of_a_leaf),
    ]

    def told(*runs: Run) -> State:
        (cell,) = topology_traffic.bounded(topology_cells.cells(ours), topology_traffic.left(runs))
        (verdict,) = verdicts("rooted", cell)
        return verdict.state

    assert told() == State.MISSED
    assert told(*seen) == State.OUT_OF_REACH
    assert told(*(dataclasses.replace(run, traffic=0) for run in seen)) == State.MISSED
    assert topology_traffic.left([*ours, *few]) == {}


def test_targets_are_told_apart_and_what_was_never_measured_is_listed() -> None:
    runs = [*_runs(median=10.0), *_runs(RULES, 20.0), *_runs(BINOMIAL, 30.0)]
    rows = topology_targets.rows("rooted", topology_cells.cells(runs))
    small, large, *others = rows
    assert small[2:] == [
        *("scattered, 16 ranks, 500us", "gather", "at least 2.17x over binomial, up to 4 KiB"),
        *("1 of 3, 2 too few runs", "**0 of 1, 1 missed**"),
        "8 B by the rules: 1.50x over binomial, 5 runs (at least 2.17x)",
    ]
    assert large[4:] == ["at least 0.95x over the best, from 64 KiB on", "0 of 1, 1 too few runs", *_nothing]
    assert {row[3] for row in others} == {"gather", "scatter"}


_nothing = ["not measured", "-"]


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
        *(_run(median=each) for each in (1000.0, 1050.0, 1100.0, 1150.0, 1200.0)),
        *(*_runs(NATIVE, 2000.0), *_runs(BINOMIAL, 3300.0), *_runs(RULES, 1210.0, algorithm="linear")),
        *(*_runs(bytes=1024, median=2000.0), *_runs(NATIVE, 1000.0, bytes=1024)),
        *_runs(BINOMIAL, 2000.0, bytes=1024, load=3.1),
        _run("hocket:ring by leaves", experiment="gone", median=5.0),
    ]
    text = pages.page(runs)
    place = "| rooted | openmpi | scattered, 16 ranks, 500us | gather |"
    assert f"{place} at least 2.17x over binomial, up to 4 KiB | 1 of 3, 1 out of reach, 1 too few" in text
    row = "| 8 B | 2,000 (2,000-2,000) | choice | 2,000 (2,000-2,000) | linear by leaves |"
    row += " 1,100 (1,000-1,200) | 1.82x | 1.82x | 9.7 |"
    assert f"{row} 750 | 3.00x over binomial, 5 runs (at least 2.17x) |" in text
    assert "1.00x over binomial, 5 runs (at least 2.17x), out of reach: the bound leaves 1.62x |" in text
    assert "| 8 B | linear | 1,210 (1,210-1,210) | 1.10x | 1.65x | 1.65x | 2.73x over binomial" in text
    assert "| hocket:linear by leaves | 1,100 (1,000-1,200) | 2,000 (2,000-2,000) | 5 |" in text
    assert "Load: median 0.1 (0.1-3.1)." in text
    assert "## gone" in text


def test_what_was_expected_stands_beside_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topology_expectations, "predicted_us", lambda cell, _recipe: 1.2 * cell.bytes)
    runs = [
        *(run for size in (8, 65536) for run in _runs(bytes=size, median=float(size))),
        *(*_runs("hocket:linear", 1.2 * 65536, bytes=65536), *_runs(NATIVE, bytes=65536)),
        *(*_runs("hocket:knomial", 1.0, bytes=65536, traffic=1), *_runs("hocket:ring", count=2, bytes=65536)),
        *_runs(RULES, bytes=65536, algorithm="linear"),
    ]
    found = topology_expectations.expectations(runs)
    like_a_row = topology_expectations.expectations(
        [*_runs(BINOMIAL, bytes=65536), *_runs("native:tree", bytes=65536)]
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


def test_an_alltoallv_of_equal_blocks_is_expected_to_take_what_an_alltoall_takes() -> None:
    pytest.importorskip("hocket._core")
    one, other = (
        topology_prediction.predicted_us(_only_cell([_run(collective=name, ranks=16)]), "linear by leaves")
        for name in ("alltoall", "alltoallv")
    )
    assert one and one == other


def test_what_comes_before_a_job_is_told_beside_its_target(tmp_path: Path) -> None:
    def setup(what: str, seconds: float) -> topology_setup.Setup:
        return topology_setup.Setup("2026-01-02T03:04:05+00:00", "a cpu", 2, 0.5, what, 0, seconds)

    found = [setup("lab", 0.5), setup("lab", 1.5), setup("lab", 0.7), setup("fabric", 0.3)]
    file = beside(tmp_path / "some.jsonl", topology_setup.ENDING)
    topology_setup.SETUPS.append(file, found)
    assert file.name == "some-setup.jsonl" and topology_setup.SETUPS.read(file) == found
    text = pages.page(_runs(), before_jobs=found)
    assert "| 0.700 (0.500-1.500) | 3 | 0.5 | less than 1 s |" in text
    assert "| 0.300 (0.300-0.300) | 1 | 0.5 | **less than 0.2 s, missed** |" in text
    assert "Before a job starts" not in pages.page(_runs())
    assert bench_topology.show_file(file)


def test_a_large_fabric_is_read_and_timed() -> None:
    pytest.importorskip("hocket._core")
    root = Path(__file__).parents[2]
    assert 0 < topology_setup.fabric_seconds(root / topology_setup.FABRIC) < 10
    with pytest.raises(CommandError, match="in the root of the source tree"):
        topology_setup.fabric_seconds(root / "nothing.xz")


def test_a_gather_stands_beside_its_scatter(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        *(_run(BINOMIAL, 1000.0), _run(BINOMIAL, 800.0, collective="scatter"), _run(NATIVE, 5.0)),
        *(_run(HOCKET, 5.0), _run(HOCKET, 5.0, collective="scatter", valid=False)),
    ]
    (pair,) = topology_directions.pairs(topology_cells.cells(runs))
    assert (pair.side, pair.bytes) == (BINOMIAL, 8)
    assert pair.ratio == pytest.approx(1.25)
    monkeypatch.setattr(topology_experiments, "EXPERIMENTS", topology_experiments.EXPERIMENTS[1:2])
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
    (block,) = topology_experiments.narrowed(experiment, [], [], {"placement": "block"}).situations
    assert block.placement == "block"
    assert not topology_experiments.narrowed(experiment, [], [], {"ppn": "3"}).cases
    assert topology_experiments.where("ppn=2,latency_us=500") == {"ppn": "2", "latency_us": "500"}
    with pytest.raises(CommandError, match="no property of a situation named 'ranks'"):
        topology_experiments.where("ranks=2")


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
@pytest.mark.timeout(400)
@pytest.mark.skipif(bool(why_no_lab()), reason=why_no_lab())
@pytest.mark.skipif(
    not (INSTALLED and _paths.hocket_exec().exists()), reason="Open MPI or Hocket is not built"
)
def test_a_small_experiment_runs_in_the_lab(hocket: Hocket, tmp_path: Path) -> None:
    out = tmp_path / "runs.jsonl"
    done = hocket("bench", "--topology", "--quick", "--only", "rooted", "--out", str(out), limit=300)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = topology.RUNS.read(out)
    assert {run.side for run in runs} == {HOCKET, RULES, NATIVE, BINOMIAL}
    assert all(run.algorithm for run in runs if run.side == RULES)
    assert all(run.valid and 0 < run.p10_us <= run.median_us <= run.p90_us for run in runs)
    shown = hocket("bench", "--show", str(out)).stdout.split()  # words: a narrow column wraps
    assert {"linear", "by", "leaves"} <= set(shown)
