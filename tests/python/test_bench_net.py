"""hocket bench --net: its plan, its figures, the section made of them, and one small run in a lab."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from built_programs import mpis_with
from hocket import _paths, mpis
from hocket.bench import (
    markdown,
    net,
    net_balance,
    net_cells,
    net_experiments,
    net_page,
    net_plan,
    net_stages,
    net_targets,
    net_traffic,
    program,
    topology_algorithms,
)
from hocket.bench.jsonl import Kind, beside
from hocket.bench.net import Job, Run
from hocket.bench.net_experiments import IN_NETWORK, Case, Experiment, Situation
from hocket.bench.net_page import Found
from hocket.bench.net_plan import Known
from hocket.bench.net_stages import Call, Span
from hocket.bench.net_targets import State, Target, Verdict
from hocket.bench.net_traffic import Traffic
from hocket.commands import bench_choices, bench_net, bench_registration
from hocket.errors import CommandError
from hocket.lab import tree
from hocket.lab.statistics import Counted, Link
from hocket.reports import AggregatedCounts, Report, ReportRow
from lab_needs import why_no_lab

Hocket = Callable[..., subprocess.CompletedProcess[str]]
OPEN_MPI = mpis.Mpi("openmpi", "ompi", Path("mpirun"))
MPICH = mpis.Mpi("mpich", "mpich", Path("mpiexec"))
OURS, CHOICE, RING, DOUBLING = "hocket:in_network", "native", "native:ring", "native:recursive_doubling"
OWN_DOUBLING = "hocket:recursive_doubling"
KIB, MIB = 1 << 10, 1 << 20
LINE_US = 8e6 * MIB / 1e8 / (1448 / 1514)  # of 1 MiB at 100 Mbit
PLACED: dict[str, Any] = {
    **{"date": "2026-01-02T03:04:05+00:00", "cpu": "a cpu", "cores": 2, "load": 0.1},
    **{"mpi": "openmpi", "mpi_version": "5.0", "experiment": "allreduce", "collective": "allreduce"},
    **{"bytes": MIB, "leaves": 2, "nodes": 4, "ppn": 1, "ranks": 4, "rate": 10**8, "latency_us": 0},
}


def _run(side: str = OURS, median: float = 90000.0, **changes: Any) -> Run:
    fields: dict[str, Any] = {
        **{**PLACED, "side": side, "streaming": side.startswith(OURS), "run": 0, "median_us": median},
        **{"p10_us": median, "p90_us": median, "batches": 9, "valid": True},
    }
    return Run(**{**fields, **changes})


def _runs(side: str = OURS, median: float = 90000.0, count: int = 5, **changes: Any) -> list[Run]:
    return [_run(side, median, run=number, **changes) for number in range(count)]


def _traffic(side: str = OURS, up: float = 1.0, down: float = 1.0, **changes: Any) -> Traffic:
    fields = {**PLACED, "side": side, "streaming": True, "up_bytes": up * MIB, "down_bytes": down * MIB}
    return Traffic(**{**fields, **changes})


def _span(stage: str, segment: int, begin: float, end: float, **changes: Any) -> Span:
    fields: dict[str, Any] = {
        **{**PLACED, "side": "hocket:in_network by nodes in 2 segments", "streaming": True, "ppn": 2},
        **{"call": 17, "segment": segment, "stage": stage, "begin_us": begin, "end_us": end},
    }
    return Span(**{**fields, **changes})


SPANS = [
    *(_span("reduce", 0, 0, 10), _span("network", 0, 10, 30), _span("broadcast", 0, 30, 40)),
    *(_span("reduce", 1, 10, 20), _span("network", 1, 20, 40), _span("broadcast", 1, 40, 50)),
]


def _verdicts(runs: list[Run], *traffic: Traffic) -> list[Verdict]:
    return net_targets.verdicts(net_cells.cells(runs), traffic)


def _of(target: Target, found: list[Verdict]) -> Verdict:
    (verdict,) = (one for one in found if one.target == target)
    return verdict


def _all_natives(median: float, **changes: Any) -> list[Run]:
    """One run of each of the MPI's that are no rivals; the ring is the caller's."""
    names = ("", *(name for name in topology_algorithms.ALGORITHMS["ompi"]["allreduce"] if name != "ring"))
    sides = [f"native:{name}" if name else CHOICE for name in names]
    return [_run(side, median, **changes) for side in sides]


def test_records_survive_a_file_and_wrong_ones_are_named(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    net.RUNS.append(file, [_run(), _run(RING)])
    assert net.RUNS.read(file) == [_run(), _run(RING)]
    for change in ({"side": "left"}, {"collective": "hop"}):
        file.write_text(json.dumps({**dataclasses.asdict(_run()), **change}) + "\n")
        with pytest.raises(CommandError, match="line 1: no such run"):
            net.RUNS.read(file)
    file.write_text(json.dumps({**dataclasses.asdict(SPANS[0]), "stage": "rest"}) + "\n")
    with pytest.raises(CommandError, match="no such stage"):
        net_stages.SPANS.read(file)


@pytest.mark.parametrize("experiment", net_experiments.EXPERIMENTS, ids=lambda one: one.name)
def test_an_experiment_can_be_run(experiment: Experiment) -> None:
    for one in (experiment, net_experiments.in_small(experiment)):
        assert one.cases
        for situation in one.situations:
            nodes = tree.build(situation.shape())
            assert len(nodes.nodes()) == situation.nodes and situation.shape().aggregates
            assert any(case.recipes_in(situation) for case in one.cases)
        for case in one.cases:
            assert all(size % 8 == 0 for size in case.sizes)
            for name in filter(None, (case.beside, *case.rivals)):
                tables = topology_algorithms.ALGORITHMS.values()
                assert any(name in table[case.collective] for table in tables)


def test_leaders_aggregate_where_nodes_have_several_ranks() -> None:
    case = Case("allreduce", (8,), (IN_NETWORK, *net_experiments.staged((1, 4)), "ring"))
    assert case.recipes_in(Situation()) == (IN_NETWORK, "ring")
    staged = ("in_network by nodes", "in_network by nodes in 4 segments")
    assert case.recipes_in(Situation(ppn=2)) == (*staged, "ring")


def test_a_job_is_told_what_to_force_and_whether_to_stream() -> None:
    job = Job("allreduce", Situation(), "allreduce", (8,), "ring", IN_NETWORK, streaming=False)
    told = net.variables(OPEN_MPI, job)
    assert told["OMPI_MCA_coll_tuned_allreduce_algorithm"] == "4"
    assert told["HOCKET_FORCE"] == "allreduce:in_network" and told["SHARP_COLL_ENABLE_SAT"] == "0"
    alone = net.variables(OPEN_MPI, dataclasses.replace(job, recipe=""))
    assert "HOCKET_FORCE" not in alone and "SHARP_COLL_ENABLE_SAT" not in alone
    assert job.sides() == [RING, OURS] and not job.streams(OURS)
    assert dataclasses.replace(job, streaming=True).streams(OURS) and not job.streams(RING)


def test_a_bound_is_longer_where_links_are_slow() -> None:
    job = Job("allreduce", Situation(), "allreduce", (16 * MIB,))
    faster = dataclasses.replace(job, situation=Situation(rate=5 * 10**8))
    slower = dataclasses.replace(job, situation=Situation(rate=10**7))
    assert net.bound(faster, 1) == net.bound(job, 1) < net.bound(slower, 1)


def _reported(algorithm: str = IN_NETWORK, aggregated: AggregatedCounts | None = None) -> Report:
    rows = [ReportRow("allreduce", 8, algorithm, "forced", 20, 160, 0.1)]
    rows += [ReportRow("allreduce", 8, "native", "off", 20, 160, 0.1)]
    return Report(rows, aggregated=aggregated)


def test_what_did_not_go_through_the_network_is_no_measurement_of_it() -> None:
    job = Job("allreduce", Situation(), "allreduce", (8,), "ring", IN_NETWORK)
    net.check_that_it_ran(job, 1, _reported(aggregated=AggregatedCounts(20, 1, 0)))
    for report, why in (
        (_reported("native"), "native ran"),
        (Report(), "nothing ran"),
        (_reported(), "no call went through the network"),
        (_reported(aggregated=AggregatedCounts(20, 1, 3)), "messages finished 3 of 20 calls"),
    ):
        with pytest.raises(CommandError, match=why):
            net.check_that_it_ran(job, 1, report)
    net.check_that_it_ran(dataclasses.replace(job, recipe="ring"), 1, _reported("ring"))


def _finished(monkeypatch: pytest.MonkeyPatch, sides: tuple[str, ...], problem: CommandError | None) -> None:
    line = {"bytes": 8, "median_us": 5.0, "p10_us": 5.0, "p90_us": 5.0, "batches": 9, "valid": True}
    output = "".join(json.dumps({**line, "side": side}) + "\n" for side in sides)
    monkeypatch.setattr(mpis.Mpi, "version", lambda self: "5.0")
    monkeypatch.setattr(net, "reported", lambda *_: net.Finished(output + '{"cut', problem=problem))


def test_of_a_job_that_failed_only_the_mpi_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("allreduce", Situation(), "allreduce", (8, 64), "ring", IN_NETWORK)
    kept: list[Run] = []
    _finished(monkeypatch, ("native", "hocket"), None)
    net.measure(OPEN_MPI, job, 1, kept.extend)
    assert [(run.side, run.streaming) for run in kept] == [(RING, False), (OURS, True)]
    kept.clear()
    _finished(monkeypatch, ("native", "hocket"), CommandError("it hung", 1))
    with pytest.raises(CommandError, match="it hung"):
        net.measure(OPEN_MPI, job, 1, kept.extend)
    assert [run.side for run in kept] == [RING]
    _finished(monkeypatch, (), None)
    with pytest.raises(CommandError, match="printed nothing"):
        net.measure(OPEN_MPI, job, 1, kept.extend)


CASE = Case("allreduce", (8, MIB), beside="ring", rivals=("", "recursive_doubling", "linear"))
SOME = Experiment("some", "Some", "", (Situation(),), (CASE,))


def _planned(known: Known, experiment: Experiment, mpi: mpis.Mpi = OPEN_MPI, runs: int = 5) -> list[Job]:
    return [work.job for work in net_plan.plan(known, [experiment], mpi, runs, 1)]


def test_all_algorithms_are_measured_once_and_those_near_the_best_again() -> None:
    known, jobs = Known(), []
    times = {
        RING: (100.0, 100.0),
        CHOICE: (300.0, 109.0),
        DOUBLING: (90.0, 900.0),
        "native:linear": (500.0,) * 2,
    }
    for work in net_plan.plan(known, [SOME], OPEN_MPI, 2, 1):
        job = work.job
        jobs.append(job)
        for side in job.sides() if job.recipe else job.sides()[:1]:
            median = dict(zip(CASE.sizes, times.get(side, (50.0, 50.0)), strict=True))
            known.add(
                _run(side, median[size], bytes=size, run=job.run, streaming=job.streams(side))
                for size in job.sizes
            )
    first, second = ([job for job in jobs if job.run == run] for run in range(2))
    assert [(job.native, job.recipe) for job in first] == [
        *(("ring", IN_NETWORK), ("", ""), ("recursive_doubling", ""), ("linear", "")),
    ]
    assert all(job.sizes == CASE.sizes for job in first)
    assert [(job.native, job.sizes) for job in second] == [
        *(("ring", CASE.sizes), ("", (MIB,)), ("recursive_doubling", (8,))),
    ]
    assert not _planned(known, SOME, runs=2)  # and what is known is not measured again


def test_an_algorithm_that_an_mpi_lacks_is_not_asked_for() -> None:
    case = dataclasses.replace(CASE, beside="segmented_ring")
    jobs = _planned(Known(), dataclasses.replace(SOME, cases=(case,)), MPICH, 1)
    assert [(job.native, job.recipe) for job in jobs] == [("", IN_NETWORK), ("recursive_doubling", "")]


def test_of_a_sweep_the_best_recipes_are_measured_again() -> None:
    recipes = net_experiments.staged((1, 4, 8))
    case = Case("allreduce", (MIB,), recipes, beside="ring", is_swept=True)
    experiment = Experiment("sweep", "A sweep", "", (Situation(ppn=2),), (case,))
    times = dict(zip(recipes, (200.0, 105.0, 100.0), strict=True))
    at: dict[str, Any] = {"ppn": 2, "ranks": 8, "streaming": True}
    known = Known(_run(f"hocket:{name}", time, **at) for name, time in times.items())
    jobs = _planned(known, experiment, runs=2)
    assert [(job.recipe, job.run) for job in jobs] == [(recipes[1], 1), (recipes[2], 1)]


def test_bytes_are_counted_once_and_each_side_alone() -> None:
    (experiment,) = net_experiments.chosen("bytes")
    one = net_experiments.narrowed(experiment, where={"nodes": 4, "ppn": 1})
    jobs = _planned(Known(), one)
    assert [job.sides()[-1] for job in jobs] == [OURS, RING, "native:rabenseifner", DOUBLING]
    known = Known([_traffic(), _traffic(RING, streaming=False)])
    assert [job.sides()[-1] for job in _planned(known, one)] == ["native:rabenseifner", DOUBLING]


def test_situations_are_chosen_by_their_properties() -> None:
    assert net_experiments.where("nodes=8,rate=100mbit,latency_us=200us") == {
        **{"nodes": 8, "rate": 10**8, "latency_us": 200},
    }
    for text, why in (("hosts=8", "no property of a situation"), ("nodes=many", "is no number")):
        with pytest.raises(CommandError, match=why):
            net_experiments.where(text)
    with pytest.raises(CommandError, match="no experiment has these"):
        bench_net.Options(where="nodes=5").experiments()
    (found,) = bench_net.Options(only="fast", sizes=[MIB], where="nodes=8").experiments()
    assert [one.nodes for one in found.situations] == [8] and [case.sizes for case in found.cases] == [(MIB,)]


def _link(lower: str, up: int, down: int) -> Link:
    return Link(lower, "leaf0", Counted(up + 66 * 10, 10, 0), Counted(down + 66 * 10, 10, 0))


def test_the_node_with_the_most_is_counted_and_no_switch_or_head() -> None:
    links = [_link("n0", 5, 7), _link("n3", 6, 1), _link("leaf0", 900, 900), _link("head", 900, 900)]
    assert net_traffic.busiest(links, Situation()) == (6, 7)


def test_line_rate_is_up_and_down_at_a_time() -> None:
    (cell,) = net_cells.cells(_runs())
    assert cell.line_us() == pytest.approx(LINE_US)
    assert cell.ring_us() == pytest.approx(1.5 * LINE_US)


def test_line_rate_is_judged_at_100_mbit() -> None:
    for median, state in ((LINE_US / 0.96, State.REACHED), (LINE_US / 0.94, State.MISSED)):
        verdict = _of(net_targets.LINE_RATE, _verdicts(_runs(median=median)))
        assert verdict.state == state
        assert verdict.target.text(verdict.value or 0) in ("96.0 %", "94.0 %")
    assert not _verdicts(_runs(bytes=64 * KIB)) and not _verdicts(_runs(rate=10**9))
    assert _of(net_targets.LINE_RATE, _verdicts(_runs(count=4))).state == State.TOO_FEW
    assert _of(net_targets.LINE_RATE, _verdicts(_runs(valid=False))).state == State.WRONG


def test_the_best_of_the_mpi_is_the_best_of_all_that_it_can_be_forced_to() -> None:
    def judged(ring: float, *more: Run, ours: float = 88000.0) -> Verdict:
        return _of(net_targets.OVER_BEST, _verdicts([*_runs(median=ours), *_runs(RING, ring), *more]))

    assert judged(180000.0, *_all_natives(400000.0)).state == State.REACHED
    assert judged(165000.0, *_all_natives(400000.0), ours=95000.0).state == State.OUT_OF_REACH
    assert judged(170000.0, *_all_natives(400000.0), ours=95000.0).state == State.MISSED
    one_left_out = judged(180000.0)
    assert one_left_out.state == State.TOO_FEW and "recursive_doubling" in one_left_out.what
    quicker_once = judged(180000.0, *_all_natives(160000.0))
    assert str(quicker_once) == "too few runs (1 of 5)"


def test_large_ratios_depend_on_nodes_and_rate() -> None:
    def limit(**changes: Any) -> float | None:
        (cell,) = net_cells.cells([_run(**changes)])
        return net_targets._least_over_best(cell)

    assert (limit(), limit(nodes=8)) == (1.9, 1.9)
    assert (limit(bytes=16 * MIB), limit(bytes=16 * MIB, nodes=8)) == (1.45, 1.7)
    assert (limit(rate=5 * 10**8), limit(bytes=4 * MIB)) == (1.4, None)


def test_small_messages_are_judged_where_each_has_a_latency() -> None:
    apart: dict[str, Any] = {"bytes": 8, "leaves": 8, "nodes": 8, "ranks": 8, "latency_us": 200}
    runs = [*_runs(median=1000.0, **apart), *_runs(DOUBLING, 1600.0, **apart)]
    runs += _runs(OWN_DOUBLING, 1400.0, **apart)
    found = _verdicts(runs)
    assert _of(net_targets.OVER_NATIVE, found).state == State.REACHED
    assert _of(net_targets.OVER_OWN, found).state == State.MISSED
    assert not _verdicts([dataclasses.replace(run, leaves=2) for run in runs])


def test_small_messages_are_flat() -> None:
    at: dict[str, Any] = {"nodes": 8, "ranks": 8}
    for median, state in ((1400.0, State.REACHED), (1600.0, State.MISSED)):
        runs = [*_runs(median=1000.0, bytes=8, **at), *_runs(median=median, bytes=2 * KIB, **at)]
        assert _of(net_targets.FLAT, _verdicts(runs)).state == state


def test_several_ranks_a_node_stand_beside_the_network_alone() -> None:
    staged: dict[str, Any] = {"side": "hocket:in_network by nodes in 8 segments", "ppn": 2, "ranks": 8}
    alone = _runs(median=100.0)
    for median, state in ((104.0, State.REACHED), (106.0, State.MISSED)):
        found = _verdicts([*alone, *_runs(median=median, **staged)])
        assert _of(net_targets.MAKESPAN, found).state == state
    assert _of(net_targets.MAKESPAN, _verdicts(_runs(**staged))).state == State.TOO_FEW


def test_stages_of_a_call_are_told_apart() -> None:
    call = Call(SPANS)
    assert [call.busy_us(stage) for stage in net_stages.STAGES] == [20, 30, 20]
    assert call.makespan_us() == 50
    (again,) = net_stages.calls([*SPANS, *(dataclasses.replace(span, date="later") for span in SPANS[:3])])
    assert len(again.spans) == 3


def test_stages_overlap_where_they_balance() -> None:
    stages = net_balance.predicted()
    assert stages[0].overlap() == pytest.approx(1, rel=0.001), "one after the other"
    assert stages[0].reduce_us == pytest.approx(stages[0].network_us, rel=0.03)
    ratios = [one.overlap() for one in stages]
    assert ratios == sorted(ratios) and ratios[-1] >= 1.6
    verdict = _of(net_targets.OVERLAP, net_targets.verdicts([], [], stages))
    assert verdict.state == State.PREDICTED and verdict.where.mpi == "predicted"
    assert _of(net_targets.OVERLAP, net_targets.verdicts([], [], stages[:3])).state == State.MISSED


def test_a_host_sends_its_data_once() -> None:
    for up, state in ((1.01, State.REACHED), (1.03, State.MISSED), (0.97, State.MISSED)):
        assert _of(net_targets.BYTES, _verdicts([], _traffic(up=up))).state == state
    assert not _verdicts([], _traffic(RING, 1.5, 1.5))
    assert _of(net_targets.BYTES, _verdicts([], _traffic(up=1.5), _traffic())).state == State.REACHED


def test_a_trace_is_that_of_the_last_call(tmp_path: Path) -> None:
    file, common = tmp_path / "trace.jsonl", {**PLACED, "side": OURS, "streaming": True}
    with pytest.raises(CommandError, match="wrote no trace"):
        net_stages.of_file(file, common)
    line = {"segment": 0, "stage": "reduce", "begin_us": 0, "end_us": 1.5}
    file.write_text("".join(json.dumps({**line, "call": call}) + "\n" for call in (1, 2, 2)))
    assert [span.call for span in net_stages.of_file(file, common)] == [2, 2]
    file.write_text('{"call": 1}\n')
    with pytest.raises(CommandError, match="line 1: a span without segment, stage"):
        net_stages.of_file(file, common)


def test_a_hocket_that_writes_no_trace_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Core:
        def options(self) -> list[dict[str, str]]:
            return [{"variable": "HOCKET_FORCE"}]

    monkeypatch.setattr(net_stages, "core", Core)
    (experiment,) = net_experiments.chosen("timeline")
    work = next(net_plan.plan(Known(), [experiment], OPEN_MPI, 1, 1))
    with pytest.raises(net_stages.LeftOutError, match="writes no trace"):
        work.run(lambda records: None)


ALL = Found(
    [
        *_runs(),
        *_runs(RING, 170000.0),
        *_all_natives(300000.0),
        *_runs(bytes=8, median=900.0),
        *_runs(bytes=64 * KIB, median=7000.0),
        *_runs(streaming=False, median=120000.0, experiment="small_mode"),
        *_runs("hocket:in_network by nodes", 150000.0, ppn=2, ranks=8, experiment="stages"),
    ],
    [_traffic(), _traffic(RING, 1.5, 1.5, streaming=False)],
    SPANS,
)


def test_the_section_tells_what_was_reached_and_what_was_missed(tmp_path: Path) -> None:
    text = "\n".join(net_page.section(ALL, tmp_path))
    assert text.startswith("## Reduction inside the network")
    assert "| over the best of the MPI, large | **0 of 1 reached, 1 missed** |" in text
    assert "| line rate, 1 to 16 MiB at 100 Mbit | 1 of 1 reached |" in text
    assert "| 2 KiB over 8 B, 8 nodes | not measured |" in text
    assert "| at least 1.90x | 1.89x | **missed** |" in text
    assert "170,000 (1.89x)" in text and "in_network, small mode" in text
    assert "| in_network by nodes | 150,000 (150,000-150,000) | 5 | 1.67x |" in text
    assert "### Where the stages balance" in text and "| in_network by nodes | 89,130 |" in text
    assert "1,572,864" in text and "![" not in text
    page = markdown.page([], more=net_page.section(ALL))
    assert page.startswith("# Performance") and "## Reduction inside the network" in page


def test_nothing_measured_is_no_section() -> None:
    assert net_page.section(Found()) == [] and net_page.draw(Found(), Path()) == []
    assert "Nothing has been measured yet." in markdown.page([])


def test_pictures_are_drawn_beside_the_page(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = net_page.draw(ALL, tmp_path)
    assert [path.name for path in drawn] == list(net_page.PICTURES.values())
    assert all(path.stat().st_size > 1000 for path in drawn)
    text = "\n".join(net_page.section(ALL, tmp_path))
    assert all(f"]({path.name})" in text for path in drawn)


def test_a_wrong_result_wins_nothing_and_is_told(tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    net.RUNS.append(file, [*_runs(valid=False), *_runs(RING, 170000.0)])
    with pytest.raises(CommandError, match="wrong results: allreduce, hocket:in_network"):
        bench_net.show_file(file)


def test_records_of_all_kinds_are_shown(tmp_path: Path) -> None:
    kinds: dict[str, tuple[Kind[Any], Sequence[Any]]] = {
        "runs": (net.RUNS, ALL.runs),
        "bytes": (net_traffic.TRAFFIC, ALL.traffic),
        "stages": (net_stages.SPANS, ALL.spans),
    }
    for name, (kind, records) in kinds.items():
        file = tmp_path / f"{name}.jsonl"
        kind.append(file, records)
        assert bench_net.show_file(file)
    read = bench_net.read(bench_net.files(tmp_path))
    assert read == Found(list(ALL.runs), list(ALL.traffic), list(ALL.spans))


def test_what_failed_is_told_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[Job] = []

    def measure(mpi: mpis.Mpi, job: Job, seconds: float, keep: net.Keep) -> None:
        tried.append(job)
        if job.native == "linear":
            raise CommandError("it hung", 1)
        side = job.sides()[-1]
        keep([_run(side, bytes=size, run=job.run, streaming=job.streams(side)) for size in job.sizes])

    monkeypatch.setattr(net, "measure", measure)
    monkeypatch.setattr(bench_net.Options, "experiments", lambda self: [SOME])
    monkeypatch.setattr(bench_choices, "chosen_mpis", lambda text: [OPEN_MPI])
    out = tmp_path / "mine.jsonl"
    with pytest.raises(CommandError, match="1 jobs failed"):
        bench_net.run(bench_net.Options(runs=3, only="allreduce"), "", out)
    assert sum(job.native == "linear" for job in tried) == 1  # it is not known to be near the best
    assert len(net.RUNS.read(out)) == 2 * 3 + 2 * 3 + 2 * 3
    tried.clear()

    with pytest.raises(CommandError, match="1 jobs failed"):
        bench_net.run(bench_net.Options(runs=3, lacking=out), "", out)
    assert [job.native for job in tried] == ["linear"]


def test_registrations_are_measured_beside_and_their_failure_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert bench_net.Options().has_registration()
    assert bench_net.Options(only="registration,small").has_registration()
    assert not bench_net.Options(where="nodes=8").has_registration()
    assert not bench_net.Options(only="small").has_registration()

    def refuse(*_: Any) -> None:
        raise CommandError("nothing can be registered here", 1)

    monkeypatch.setattr(bench_registration, "run", refuse)
    with pytest.raises(CommandError, match="1 jobs failed"):
        bench_net.run(bench_net.Options(only="registration"), "", tmp_path / "mine.jsonl")


def test_experiments_have_names(hocket: Hocket) -> None:
    refused = hocket("bench", "--net", "--only", "stars")
    assert refused.returncode == 2 and "no experiment named 'stars'" in refused.stderr


INSTALLED = [mpi for mpi in mpis_with(program.bench_program) if mpi.name == "openmpi"]
_is_built = bool(INSTALLED) and _paths.switch().exists()
_reason = why_no_lab() or ("" if _is_built else "Open MPI or Hocket is not built")


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.skipif(bool(_reason), reason=_reason)
def test_a_small_experiment_runs_in_the_lab(hocket: Hocket, tmp_path: Path) -> None:
    out = tmp_path / "net.jsonl"
    words = ("--only", "allreduce,stages,bytes", "--out", str(out))
    done = hocket("bench", "--net", "--quick", *words, limit=300)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = net.RUNS.read(out)
    assert all(run.valid and run.median_us > 0 for run in runs)
    assert {OURS, RING, "hocket:in_network by nodes(slices) in 32 segments"} <= {run.side for run in runs}
    counted = net_traffic.TRAFFIC.read(beside(out, net_traffic.ENDING))
    ours = [one for one in counted if net_traffic.is_judged(one)]
    others = [one for one in counted if not net_traffic.is_judged(one)]
    assert ours and others
    assert all(0.9 < one.up_bytes / one.bytes < 1.1 for one in ours)
    assert all(one.up_bytes / one.bytes > 1.3 for one in others)
    shown = hocket("bench", "--show", str(out)).stdout.split()  # words: a narrow column wraps
    assert {"in", "the", "network"} <= set(shown)
