"""The non-blocking benchmark's records, arguments, tables, traces and pictures: no program is run."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hocket.bench import (
    gantt,
    nonblocking,
    nonblocking_cells,
    nonblocking_page,
    nonblocking_tables,
    runner,
    trace,
)
from hocket.bench import timeline as timelines
from hocket.bench.nonblocking import Lane, Request, Settings, parse_settings, parse_tests
from hocket.bench.timeline import Noise, Scenario, Skew, Span, parse_noise, parse_skew
from hocket.errors import CommandError

Hocket = Callable[..., subprocess.CompletedProcess[str]]

WHERE: dict[str, Any] = {
    **{"date": "2026-01-02T03:04:05+00:00", "cpu": "a processor", "cores": 2, "load": 0.1},
    **{"mpi": "openmpi", "mpi_version": "1.2"},
}


def _lane(side: str, form: str, median: float, loop: str = "none", tests: int = 0, **more: Any) -> Lane:
    values: dict[str, Any] = {
        **WHERE,
        **{"ranks": 2, "collective": "alltoall", "bytes": 65536, "type": "float", "root": 0},
        **{"side": side, "form": form, "loop": loop, "tests": tests, "apart": loop != "none"},
        **{"median_us": median, "p10_us": median, "p90_us": median},
        **{"batches": 9, "k": 1, "valid": True, "make_us": 2.0},
    }
    return Lane(**{**values, **more})


def _lanes(side: str, **more: Any) -> list[Lane]:
    """Operations of 10 us that hide by half behind 10 us of computation, which takes 11 us beside them."""
    return [
        _lane(side, "blocking", 8.0, **more),
        _lane(side, "nonblocking", 10.0, **more),
        _lane(side, "nonblocking", 10.0, apart=True, start_us=1.5, **more),
        _lane(side, "persistent", 7.0, **more),
        _lane(side, "persistent", 7.0, apart=True, start_us=0.5, **more),
        _lane(side, "nonblocking", 10.0, "alone", compute_us=10.0, **more),
        _lane(side, "nonblocking", 15.0, "time", compute_us=10.0, **more),
        _lane(side, "nonblocking", 16.0, "work", compute_us=11.0, **more),
    ]


def test_lanes_come_back_from_their_file(tmp_path: Path) -> None:
    lanes = _lanes("native") + _lanes("hocket", progress="thread", node_size=2)
    nonblocking.LANES.append(tmp_path / "some" / "lanes.jsonl", lanes)
    assert nonblocking.LANES.read(tmp_path / "some" / "lanes.jsonl") == lanes


@pytest.mark.parametrize(
    "damage",
    [{"schema": "other"}, {"side": "both"}, {"loop": "endless"}, {"median_us": "fast"}, {"extra": 1}],
)
def test_a_damaged_record_is_an_error(tmp_path: Path, damage: dict[str, Any]) -> None:
    (tmp_path / "lanes.jsonl").write_text(json.dumps({**dataclasses.asdict(_lanes("native")[0]), **damage}))
    with pytest.raises(CommandError, match="line 1"):
        nonblocking.LANES.read(tmp_path / "lanes.jsonl")


def test_a_cell_tells_costs_and_overlap() -> None:
    (cell,) = nonblocking_cells.cells(_lanes("native"))
    assert cell.overhead() == pytest.approx(25)
    assert cell.beyond() == pytest.approx(2)
    assert cell.beyond("persistent") == pytest.approx(-1)
    assert cell.start("persistent") == 0.5
    time, work = cell.overlaps()
    assert (time.osu, time.imb, time.stolen) == pytest.approx((50, 50, None))
    assert (work.osu, work.imb, work.stolen) == pytest.approx((50, 40, 10))


def test_settings_make_cells_of_their_own() -> None:
    lanes = _lanes("hocket") + _lanes("hocket", progress="thread") + _lanes("hocket", node_size=2)
    lanes += _lanes("hocket", link="2gbit")
    texts = [cell.settings_text() for cell in nonblocking_cells.cells(lanes)]
    assert texts == ["", "progress thread", "nodes of 2", "2gbit"]


def test_only_results_that_hocket_spoils_are_blamed_on_it() -> None:
    right, wrong = _lane("native", "persistent", 1.0), _lane("native", "persistent", 0.0, valid=False)
    mine = dataclasses.replace(wrong, side="hocket")
    blamed = nonblocking_cells.wrong_where_right_without
    assert blamed(nonblocking_cells.cells([wrong, mine])) == []
    assert [form for _, form in blamed(nonblocking_cells.cells([right, mine]))] == ["persistent"]
    assert "wrong" in nonblocking_tables.cost_rows(nonblocking_cells.cells([mine]))[0]


def test_the_page_has_costs_overlap_and_late_ranks() -> None:
    scenario = Scenario(REQUEST, Skew(500.0, 0))
    waits = timelines.waits(_spans(), scenario, {**WHERE, "progress": "", "node_size": 0})
    page = nonblocking_page.page(_lanes("untouched") + _lanes("native") + _lanes("hocket"), waits)
    assert "| openmpi | 2 | **+25; +25 (alltoall 64 KiB); 0 of 1, missed** | - | - |" in page
    assert "| openmpi | 2 | alltoall | **+25 %, missed** (+25 %) |" in page
    assert "| openmpi | 2 | alltoall | 64 KiB | 50 / 50 / 40 | 50 / 50 / 40 | 125 |" in page
    assert (
        "| openmpi | 2 | alltoall | 64 KiB | 8.000 | 7.000 | 0.500 | -1.00 | 7.000 | 0.500 | 1.00x |" in page
    )
    assert "a rank 500 us late" in page
    assert "Between nodes" not in page and "What progress costs" not in page
    for block in page.split("\n\n"):
        assert len({line.count("|") for line in block.splitlines() if line.startswith("|")}) <= 1, block


def _section(page: str, title: str) -> str:
    return page.split(f"## {title}")[1].split("\n## ")[0]


def test_small_operations_have_a_target_in_microseconds() -> None:
    quick = _lanes("hocket", bytes=8)
    slow = [dataclasses.replace(lane, collective="allgather") for lane in quick]
    slow[1] = dataclasses.replace(slow[1], median_us=8.4)
    quick[1] = dataclasses.replace(quick[1], median_us=8.3)
    quick[3] = dataclasses.replace(quick[3], median_us=8.02)
    page = nonblocking_page.page(quick + slow)
    assert "**+0.35; +0.40 (allgather 8 B); 1 of 2, missed**" in _section(page, "Targets")
    assert "**-0.49; +0.02 (alltoall 8 B); 1 of 2, missed**" in _section(page, "Targets")
    sizes = _section(page, "Over the blocking call")
    assert "| alltoall | +0.30 us |" in sizes
    assert "| allgather | **+0.40 us, missed** |" in sizes


def test_ialltoall_stands_beside_each_mpi_and_the_fastest() -> None:
    other = [dataclasses.replace(lane, mpi="mpich", median_us=20.0) for lane in _lanes("untouched")]
    mine = [dataclasses.replace(lane, mpi="mpich", median_us=12.5) for lane in _lanes("hocket")]
    page = nonblocking_page.page([*_lanes("untouched"), *_lanes("hocket"), *other, *mine])
    table = _section(page, "MPI_Ialltoall against each MPI")
    assert "| openmpi | 2 | 64 KiB | 10.0 | 10.0 | 1.00x | 1.00x |" in table
    assert "| mpich | 2 | 64 KiB | 20.0 | 12.5 | 1.60x | 0.80x |" in table


def test_ialltoall_is_to_be_twice_as_fast_as_that_of_open_mpi_with_four_ranks() -> None:
    mine = [dataclasses.replace(lane, median_us=lane.median_us / 1.5) for lane in _lanes("hocket")]
    lanes = [dataclasses.replace(lane, ranks=4) for lane in [*_lanes("untouched"), *mine]]
    others = [dataclasses.replace(lane, mpi="mpich") for lane in lanes]
    table = _section(nonblocking_page.page([*lanes, *others]), "MPI_Ialltoall against each MPI")
    assert "| openmpi | 4 | 64 KiB | 10.0 | 6.667 | **1.50x, missed** |" in table
    assert "| mpich | 4 | 64 KiB | 10.0 | 6.667 | 1.50x |" in table


def test_progress_modes_are_compared_with_the_one_without_threads() -> None:
    slow = [
        dataclasses.replace(lane, progress="thread", median_us=2 * lane.median_us)
        for lane in _lanes("hocket")
    ]
    page = nonblocking_page.page(
        [*slow, *_lanes("hocket", progress="calls"), *_lanes("native", progress="calls")]
    )
    table = _section(page, "What progress costs")
    rows = [line for line in table.splitlines() if "alltoall" in line]
    assert [row.split(" | ")[4:7] for row in rows] == [
        ["calls", "10.0", "1.00x"],
        ["thread", "20.0", "0.50x"],
    ]
    assert "## Targets" not in page


def test_pretended_nodes_have_a_table_of_their_own() -> None:
    lanes = _lanes("untouched", link="2gbit")
    lanes += _lanes("hocket", progress="thread", node_size=1, link="2gbit")
    page = nonblocking_page.page([*lanes, *_lanes("untouched")])
    table = _section(page, "Between nodes")
    assert "| MPI alone | 2gbit | 8.000 | 10.0 | +25 % | 50 / 50 / 40 |" in table
    assert "| Hocket | progress thread, nodes of 1, 2gbit | 8.000 | 10.0 | **+25 %, missed** |" in table
    assert "## Targets" not in page


@pytest.mark.parametrize(("ranks", "verdict"), [(2, "**67, missed**"), (4, "67")])
def test_the_sum_bounds_what_ranks_with_cores_of_their_own_reach(ranks: int, verdict: str) -> None:
    lanes = [
        dataclasses.replace(lane, median_us=30.0) if lane.loop == "work" else lane
        for lane in _lanes("hocket", ranks=ranks)
    ]
    table = _section(nonblocking_page.page([*lanes, *_lanes("native", ranks=ranks)]), "Overlap")
    row = next(line for line in table.splitlines() if "alltoall" in line)
    assert row.split(" | ")[-1] == f"{verdict} |"


@pytest.mark.parametrize(
    ("alone", "hockets", "verdict"),
    [(18.0, 10.8, "yes"), (18.0, 12.0, "**no, missed**"), (15.0, 12.0, "-")],
)
def test_between_nodes_most_hides_where_the_mpi_alone_hides_little(
    alone: float, hockets: float, verdict: str
) -> None:
    def lanes(side: str, together: float) -> list[Lane]:
        found = _lanes(side, link="2gbit")
        return [
            dataclasses.replace(lane, median_us=together) if lane.loop == "time" else lane for lane in found
        ]

    page = nonblocking_page.page(lanes("untouched", alone) + lanes("hocket", hockets))
    hidden = [line for line in _section(page, "Between nodes").splitlines() if "| Hocket |" in line]
    assert [line.split(" | ")[-1] for line in hidden] == [f"{verdict} |"]


def test_a_picture_is_shown_where_there_is_one(tmp_path: Path) -> None:
    waits = timelines.waits(
        _spans(), Scenario(REQUEST, Skew(500.0, 0)), {**WHERE, "progress": "", "node_size": 0}
    )
    assert "![" not in nonblocking_page.page([], waits, tmp_path)
    (tmp_path / nonblocking_page.PICTURE).touch()
    assert f"]({nonblocking_page.PICTURE})" in nonblocking_page.page([], waits, tmp_path)


def test_several_settings_are_one_after_the_other() -> None:
    assert parse_settings("calls, thread", 2) == [Settings("calls", 2), Settings("thread", 2)]
    assert parse_settings("", 0) == [Settings()]
    with pytest.raises(CommandError, match="no progress named 'never'"):
        parse_settings("auto,never", 0)


REQUEST = runner.Request(["bcast"], [64], ranks=2)


def test_what_is_written_becomes_the_program_s_arguments() -> None:
    words = Request(REQUEST, [0, 4], 12.5).arguments()
    assert words[-4:] == ["--tests", "0,4", "--compute", "12.5"]
    words = Scenario(REQUEST, parse_skew("500:1", 2), parse_noise("100x50"), tests=3, seed=7).arguments()
    assert " ".join(words).endswith("--seed 7 --tests 3 --compute 500.0 --skew 500:1 --noise 100x50")
    assert Settings("thread", 2).variables() == {"HOCKET_PROGRESS": "thread", "HOCKET_NODE_SIZE": "2"}
    assert Settings().variables() == {}


@pytest.mark.parametrize("text", ["", "x", "-1", "1,,2", "0,1,2,3,4,5,6,7,8", "99999999"])
def test_tests_that_are_none(text: str) -> None:
    with pytest.raises(CommandError, match="numbers of tests"):
        parse_tests(text)


@pytest.mark.parametrize("text", ["", "0", "late", "5:", "5:x", "5:2", "-5", "1e3", "99999999999"])
def test_skews_that_are_none(text: str) -> None:
    with pytest.raises(CommandError):
        parse_skew(text, 2)


@pytest.mark.parametrize("text", ["", "5", "0x5", "5x0", "x5", "5x", "1000x1000", "-1x5"])
def test_noises_that_are_none(text: str) -> None:
    with pytest.raises(CommandError):
        parse_noise(text)


def test_skew_and_noise() -> None:
    assert parse_skew("2.5", 2) == Skew(2.5, -1)
    assert parse_noise("10x2.5") == Noise(10, 2.5)


def _span(form: str, rank: int, operation: int, kind: str, begin: float, end: float) -> Span:
    return Span("openmpi", "bcast", 64, "native", form, rank, operation, kind, begin, end)


def _spans() -> list[Span]:
    """Rank 0 comes 500 us late to a broadcast beside 600 us of computation."""
    return [
        _span("blocking", 0, 0, "late", 0, 500),
        _span("blocking", 0, 0, "call", 500, 510),
        _span("blocking", 0, 0, "compute", 510, 1110),
        _span("blocking", 1, 0, "call", 0, 510),
        _span("blocking", 1, 0, "compute", 510, 1110),
        _span("nonblocking", 0, 0, "late", 0, 500),
        _span("nonblocking", 0, 0, "start", 500, 501),
        _span("nonblocking", 0, 0, "compute", 501, 1101),
        _span("nonblocking", 0, 0, "wait", 1101, 1102),
        _span("nonblocking", 1, 0, "start", 0, 1),
        _span("nonblocking", 1, 0, "compute", 1, 301),
        _span("nonblocking", 1, 0, "test", 301, 302),
        _span("nonblocking", 1, 0, "compute", 302, 602),
        _span("nonblocking", 1, 0, "wait", 602, 603),
    ]


def test_what_an_operation_takes_from_a_rank() -> None:
    scenario = Scenario(REQUEST, Skew(500.0, 0))
    found = timelines.waits(_spans(), scenario, {**WHERE, "progress": "", "node_size": 0})
    by_place = {(one.form, one.rank): one for one in found}
    assert by_place["blocking", 1].lost_us == 510
    assert by_place["nonblocking", 1].lost_us == 3
    assert by_place["nonblocking", 1].whole_us == 603
    assert by_place["nonblocking", 0].late == 1
    assert by_place["nonblocking", 0].lost_us == 2


def test_waits_come_back_from_their_file(tmp_path: Path) -> None:
    scenario = Scenario(REQUEST, noise=Noise(10, 5))
    waits = timelines.waits(_spans(), scenario, {**WHERE, "progress": "calls", "node_size": 0})
    timelines.WAITS.append(tmp_path / "waits.jsonl", waits)
    assert timelines.WAITS.read(tmp_path / "waits.jsonl") == waits


def test_a_trace_has_a_track_per_rank_and_an_arrow_from_the_last_start(tmp_path: Path) -> None:
    trace.write(tmp_path / "trace.json", _spans())
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {event["args"]["name"] for event in events if event["ph"] == "M" and "name" in event["args"]}
    assert {"rank 0", "rank 1", "openmpi, native: blocking bcast of 64 B"} <= names
    arrows = [
        (event["ph"], event["pid"], event["tid"], event["ts"]) for event in events if event["ph"] in "sf"
    ]
    assert arrows == [("s", 1, 0, 500), ("f", 1, 1, 510), ("s", 2, 0, 500), ("f", 2, 1, 603)]


def test_a_trace_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot write"):
        trace.write(tmp_path / "nowhere" / "trace.json", [])


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    gantt.draw(_spans(), tmp_path / "gantt.png")
    assert (tmp_path / "gantt.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(CommandError, match="nothing to draw"):
        gantt.draw([], tmp_path / "none.png")


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("--skew", "500"), "--skew goes with --nonblocking"),
    (("--node-size", "2"), "--node-size goes with --nonblocking"),
    (("--nonblocking", "--tests", "some"), "'some' is not a list of at most 8 numbers of tests"),
    (("--nonblocking", "--skew", "late"), "'late' is not US or US:RANK"),
    (("--nonblocking", "--skew", "500:2"), "there is no rank 2 among 2 that could be late"),
    (("--nonblocking", "--noise", "50"), "'50' is not HZxUS"),
    (("--nonblocking", "--noise", "1000x1000"), "less than all of the time"),
    (("--nonblocking", "--progress", "fast"), "no progress named 'fast'; there are: calls, thread, auto"),
    (("--nonblocking", "--node-size", "-1"), "Invalid value for '--node-size'"),
    (("--nonblocking", "--operations", "0"), "Invalid value for '--operations'"),
    (("--nonblocking", "-n", "2,4", "--gantt", "x.png"), "a timeline shows one number of ranks"),
    (
        ("--nonblocking", "--trace", "/nowhere/t.json"),
        "cannot write '/nowhere/t.json': there is no such folder",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=lambda value: str(value[-1]))
def test_wrong_arguments_are_told(hocket: Hocket, arguments: tuple[str, ...], message: str) -> None:
    told = hocket("bench", *arguments)
    assert told.returncode == 2
    assert message in " ".join((told.stdout + told.stderr).replace("│", " ").split())
