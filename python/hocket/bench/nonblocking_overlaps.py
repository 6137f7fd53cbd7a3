"""What operations cost beside computation: tables of docs/nonblocking.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hocket.bench import nonblocking_sections as sections
from hocket.bench import nonblocking_targets as targets
from hocket.bench.markdown import marked
from hocket.bench.nonblocking import PROGRESS
from hocket.bench.nonblocking_cells import Cell, Pair, pairs
from hocket.bench.show import ratio_text
from hocket.quantities import format_bytes

_overlap_text = f"""\
What share of an operation of {format_bytes(targets.LARGE_BYTES)} and more hides behind computation of the
same length, in percent: by the formula of OSU, by that of IMB, and by that of IMB where the computation is a
fixed amount of arithmetic, so that the CPU which progress takes away counts against it. On one node copies
are work of some core. Where each rank computes on its own core and none is to spare, the bound is that
nothing hides: both together take the sum of both. *Of the sum*: what Hocket reaches of that, with fixed work;
target {targets.LEAST_OF_SUM:g} %. With more ranks than cores that is no bound, and there is no verdict: a
computation alone is timed while its rank has a core, beside an operation also while it waits for one."""


def _tests(found: Iterable[Cell]) -> list[int]:
    return sorted({lane.tests for cell in found for lane in cell.lanes.values() if lane.loop != "none"})


def shares(cell: Cell | None, tests: int) -> str:
    time, work = (cell.overlap(loop, tests) if cell else None for loop in ("time", "work"))
    if not time or not work:
        return "-"
    return f"{sections.percent(time.osu)} / {sections.percent(time.imb)} / {sections.percent(work.imb)}"


def _of_sum(cell: Cell, tests: int) -> str:
    work = cell.overlap("work", tests)
    if not work:
        return "-"
    shares_cores = cell.ranks > work.lane.cores
    return marked(f"{work.of_sum:.0f}", shares_cores or round(work.of_sum) >= targets.LEAST_OF_SUM)


def overlap(found: Sequence[Cell]) -> sections.Lines:
    tests = _tests(found)
    rows = [
        [
            *sections.place(pair.hocket),
            *(shares(cell, count) for count in tests for cell in (pair.alone, pair.hocket)),
            *(_of_sum(pair.hocket, count) for count in tests),
        ]
        for pair in pairs(found)
        if targets.is_large(pair.hocket)
    ]
    sides = [f"{side}, {count} tests" for count in tests for side in ("MPI alone", "Hocket")]
    header = ["MPI", "ranks", "collective", "bytes", *sides]
    header += [f"of the sum %, {count} tests" for count in tests]
    return sections.section("Overlap: OSU / IMB / IMB with fixed work, %", _overlap_text, header, rows)


_between_text = f"""\
Every rank on a pretended node of its own (`HOCKET_NODE_SIZE=1`), over a loopback device that carries no more
than the rate (`dev/shaped.sh`): a message takes time in which the cores are free. Blocking calls are left to
the MPI there. Targets: {targets.MOST_OVER:g} % over the blocking call from
{format_bytes(targets.LARGE_BYTES)} on, {targets.MOST_BEYOND_US:g} us up to
{format_bytes(targets.SMALL_BYTES)}; from {format_bytes(targets.LARGE_BYTES)} on,
{targets.LEAST_HIDDEN:g} % hidden by OSU's and by IMB's formula with a number of tests with which the MPI
alone hides less than {targets.MOST_ALONE:g} %."""


def _hides(pair: Pair) -> str:
    is_met = targets.hides(pair.hocket, pair.alone)
    return "-" if is_met is None else marked("yes" if is_met else "no", is_met)


def between_nodes(found: Sequence[Cell]) -> sections.Lines:
    tests = _tests(found)
    rows = []
    for pair in pairs(found):
        for side, cell in (("MPI alone", pair.alone), ("Hocket", pair.hocket)):
            if not cell:
                continue
            is_met = side != "Hocket" or targets.meets(cell)
            cost = marked(targets.cost_text(cell), is_met)
            rows.append([
                *(*sections.place(cell), side, cell.settings_text() or "-"),
                *(sections.time_text(cell.median(form)) for form in ("blocking", "nonblocking")),
                cost,
                *(shares(cell, count) for count in tests),
                _hides(pair) if side == "Hocket" else "-",
            ])  # fmt: skip
    header = ["MPI", "ranks", "collective", "bytes", "side", "settings", "blocking us", "start + wait us"]
    header += ["more", *(f"OSU / IMB / fixed work %, {count} tests" for count in tests), "hides"]
    return sections.section("Between nodes", _between_text, header, rows)


_progress_text = """\
The same cells with each value of `HOCKET_PROGRESS`, one after the other. *Hidden*: the share by IMB's formula
with a fixed amount of arithmetic; *stolen*: by how much that arithmetic takes longer beside the operation.
*To calls*: start and wait, nothing computed, beside the mode without any thread. No target."""


def progress_modes(found: Sequence[Cell]) -> sections.Lines:
    mine = sections.hockets(found)
    calls = {cell.place(): cell.median("nonblocking") for cell in mine if cell.progress == "calls"}
    tests = _tests(mine)
    rows = []
    for cell in sorted(mine, key=lambda cell: (*cell.place(), PROGRESS.index(cell.progress))):
        works = [cell.overlap("work", count) for count in tests]
        rows.append([
            *(*sections.place(cell), cell.progress, sections.time_text(cell.median("nonblocking"))),
            ratio_text(sections.ratio(calls.get(cell.place()), cell.median("nonblocking"))),
            *(sections.percent(work.imb if work else None) for work in works),
            *(sections.percent(work.stolen if work else None) for work in works),
        ])  # fmt: skip
    header = ["MPI", "ranks", "collective", "bytes", "progress", "start + wait us", "to calls"]
    header += [f"hidden %, {count} tests" for count in tests]
    header += [f"stolen %, {count} tests" for count in tests]
    return sections.section("What progress costs", _progress_text, header, rows)
