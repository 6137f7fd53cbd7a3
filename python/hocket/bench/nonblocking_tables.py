"""The numbers of the non-blocking benchmark as rows, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from hocket.bench.nonblocking import Lane
from hocket.bench.nonblocking_cells import Cell, Overlap, groups
from hocket.bench.show import microseconds
from hocket.bench.timeline import Waits
from hocket.quantities import format_bytes

COSTS_HEADER = (
    *("collective", "bytes", "side", "blocking", "p10-p90", "start + wait", "p10-p90", "over blocking"),
    *("beyond us", "start us", "persis- tent", "p10-p90", "over blocking", "start us", "init us"),
)
OVERLAP_HEADER = (
    *("collective", "bytes", "side", "computes us", "tests", "OSU %", "IMB %", "(p90-p10)"),
    *("work: OSU %", "IMB %", "(p90-p10)", "CPU stolen %"),
)


def _name(cell: Cell) -> list[str]:
    side = f"{cell.side} ({cell.settings_text()})" if cell.settings_text() else cell.side
    return [cell.collective, format_bytes(cell.bytes) if cell.bytes else "-", side]


def _time(value: float | None) -> str:
    return "-" if value is None else microseconds(value)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _more(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    return f"{value:+.0f}{unit}" if unit else f"{value:+.2f}"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _with_spread(lane: Lane | None) -> list[str]:
    if not lane:
        return ["-", "-"]
    if not lane.valid:
        return ["wrong", "result"]
    return [microseconds(lane.median_us), f"{_short(lane.p10_us)}-{_short(lane.p90_us)}"]


def cost_rows(found: Sequence[Cell]) -> list[list[str]]:
    return [
        [
            *_name(cell),
            *(*_with_spread(cell.lane("blocking")), *_with_spread(cell.lane("nonblocking"))),
            *(_more(cell.overhead(), " %"), _more(cell.beyond()), _time(cell.start("nonblocking"))),
            *(*_with_spread(cell.lane("persistent")), _more(cell.overhead("persistent"), " %")),
            *(_time(cell.start("persistent")), _time(_make(cell))),
        ]
        for cell in found
    ]


def _make(cell: Cell) -> float | None:
    lane = cell.lane("persistent")
    return lane.make_us if lane else None


def _shares(found: Overlap | None) -> list[str]:
    if not found:
        return ["-", "-", "-"]
    spread = f"({_percent(found.imb_low)} to {_percent(found.imb_high)})"
    return [_percent(found.osu), _percent(found.imb), spread]


def overlap_rows(found: Sequence[Cell]) -> list[list[str]]:
    rows = []
    for cell in found:
        by_way = {(overlap.lane.loop, overlap.lane.tests): overlap for overlap in cell.overlaps()}
        for tests in dict.fromkeys(tests for _, tests in by_way):
            time, work = by_way.get(("time", tests)), by_way.get(("work", tests))
            alone = cell.lane("nonblocking", "alone", tests, apart=True)
            rows.append([
                *_name(cell), _time(alone.compute_us if alone else None), str(tests),
                *_shares(time), *_shares(work), _percent(work.stolen if work else None),
            ])  # fmt: skip
    return rows


WAITS_HEADER = (
    *("collective", "bytes", "side", "form", "rank", "late", "start us", "tests us", "wait us"),
    *("lost us", "p10-p90", "whole us"),
)


def waits_rows(found: Sequence[Waits]) -> list[list[str]]:
    return [
        [
            *(one.collective, format_bytes(one.bytes) if one.bytes else "-", one.side, one.form),
            *(str(one.rank), f"{one.late} of {one.operations}", _time(one.start_us), _time(one.test_us)),
            *(_time(one.wait_us), _time(one.lost_us), f"{_short(one.lost_p10_us)}-{_short(one.lost_p90_us)}"),
            _time(one.whole_us),
        ]
        for one in found
    ]


def show_waits(console: Console, found: Sequence[Waits]) -> None:
    for mpi, ranks in dict.fromkeys((one.mpi, one.ranks) for one in found):
        some = [one for one in found if (one.mpi, one.ranks) == (mpi, ranks)]
        console.print(
            _table(f"{mpi}, {ranks} ranks: what each operation took", WAITS_HEADER, waits_rows(some))
        )
        console.print()


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number < 3 else "right", no_wrap=number < 3)
    for row in rows:
        table.add_row(*row)
    return table


def show(console: Console, found: Sequence[Cell]) -> None:
    for (mpi, ranks), some in groups(found).items():
        console.print(_table(f"{mpi}, {ranks} ranks: microseconds", COSTS_HEADER, cost_rows(some)))
        console.print(_table("Overlap with computation", OVERLAP_HEADER, overlap_rows(some)))
        console.print()
