"""The section "Reduction inside the network" of docs/performance.md, from the records in bench/results/net;
the same rows for the terminal."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.bench import (
    net_balance,
    net_cells,
    net_experiments,
    net_plan,
    net_plot,
    net_stages,
    net_targets,
    net_traffic,
)
from hocket.bench.markdown import machines, table
from hocket.bench.net import Run
from hocket.bench.net_balance import Stages
from hocket.bench.net_cells import CHOICE, Cell, Group, Side, over
from hocket.bench.net_stages import Call, Span
from hocket.bench.net_targets import Verdict
from hocket.bench.net_traffic import Traffic
from hocket.bench.show import microseconds, ratio_text
from hocket.bench.topology_experiments import ASKED_RUNS
from hocket.quantities import format_bytes

Lines = list[str]

_intro = f"""\
[Reduction in the network](in-network.md) beside each algorithm of the MPI below, in a [lab](lab.md) whose
switches aggregate: nodes and links of one machine, uplinks as fast as a node's link, so that a ring, which
crosses each once, is not held up by them.

```
hocket bench --net --out bench/results/net/mine.jsonl
hocket bench --net --only allreduce --where nodes=8,rate=100mbit --rounds 3
hocket bench --net --lacking bench/results/net --out bench/results/net/more.jsonl
```

Each run is an MPI job in a lab of its own. One recipe of Hocket takes turns with one algorithm of the MPI;
the others have jobs without Hocket. All are measured once, and those that take at most {net_plan.NEAR:g}
times as long as the best, size by size, as often as Hocket's side. Hocket's report of each job has to say
that the calls went through the network, and that none was finished by messages. Times are microseconds per
call of the slowest rank: medians of the runs' medians, with the least and the greatest. *Line rate* is what
the vector's bytes need on a link, headers included: each node sends it up and gets it down at the same time.
A verdict needs {ASKED_RUNS} runs. *Out of reach*: not even at line rate would the ratio be so large.
"""

_balance = f"""\
Predicted (`hocket simulate`'s model), not measured: in the lab the links take a hundred times as long as
what happens inside of nodes. {net_balance.SITUATION}, {format_bytes(net_balance.BYTES)}, on nodes that need
as long to reduce a vector as a link to carry it, and half as long to hand it out. Each stage alone, and the
whole call: in one piece it takes as long as all three one after the other. In this model a leader has one way
in and one way out, for its node and the network alike, so that three stages do not get as far as three times.
"""

_burst = 16 << 10  # bytes that pass an idle link at once: of fewer the links' rate says nothing

SUMMARY_HEADER = ("target", "reached")
VERDICTS_HEADER = ("target", "MPI, situation", "bytes", "what", "asked", "found", "")
CELLS_HEADER = (
    *("bytes", "the MPI's choice", "its best", "us", "in the network", "us"),
    *("over the best", "over choice", "line rate, us", "of line rate"),
)
STAGES_HEADER = ("MPI, situation", "bytes", "recipe", "us", "runs", "over the network alone")
STAGE_TIMES = ("reduce, us", "network, us", "broadcast, us")
BYTES_HEADER = ("MPI, situation", "bytes", "side", "up", "down", "off by", "a ring, either way")
TRACED_HEADER = ("MPI, situation", "bytes", "recipe", *STAGE_TIMES, "makespan, us")
BALANCED_HEADER = ("recipe", *STAGE_TIMES, "makespan, us", "sum over makespan")

PICTURES = {"latencies": "net-latency.png", "bytes": "net-bytes.png", "stages": "net-stages.png"}


@dataclass(frozen=True)
class Found:
    """All records of the family."""

    runs: Sequence[Run] = ()
    traffic: Sequence[Traffic] = ()
    spans: Sequence[Span] = ()

    @staticmethod
    def among(records: Iterable[Any]) -> Found:
        """Those of the family."""
        some = list(records)
        return Found(
            [one for one in some if isinstance(one, Run)],
            [one for one in some if isinstance(one, Traffic)],
            [one for one in some if isinstance(one, Span)],
        )

    def all(self) -> list[Run | Traffic | Span]:
        return [*self.runs, *self.traffic, *self.spans]

    def cells(self) -> list[Cell]:
        return net_cells.cells(self.runs)

    def calls(self) -> list[Call]:
        return net_stages.calls(self.spans)

    def verdicts(self) -> list[Verdict]:
        return net_targets.verdicts(self.cells(), self.traffic, self.balanced())

    def balanced(self) -> Sequence[Stages]:
        """Predicted, where anything was measured."""
        return net_balance.predicted() if self.all() else ()


def _size(count: int) -> str:
    return format_bytes(count) if count else "-"


def _where(group: Group) -> str:
    return f"{group.mpi}, {group.situation}"


def _time(side: Side | None) -> str:
    if side is None:
        return "-"
    if not side.valid:
        return "**wrong result**"
    if side.runs == 1:
        return microseconds(side.median_us)
    spread = f"{microseconds(side.least_us)}-{microseconds(side.most_us)}"
    return f"{microseconds(side.median_us)} ({spread})"


def summary_rows(found: Sequence[Verdict]) -> list[list[str]]:
    """One per target, also of those about which nothing was measured."""
    return [
        [target.words, net_targets.in_short([one for one in found if one.target == target])]
        for target in net_targets.TARGETS
    ]


def verdict_rows(found: Sequence[Verdict]) -> list[list[str]]:
    return [
        [
            *(one.target.words, _where(one.where), _size(one.bytes), one.what, one.asked_text),
            *("-" if one.value is None else one.target.text(one.value), str(one)),
        ]
        for one in found
    ]


def cell_row(cell: Cell) -> list[str]:
    choice, best, ours = cell.named(CHOICE), cell.best_native(), cell.in_network()
    has_rate = cell.bytes > _burst
    share = f"{100 * cell.line_us() / ours.median_us:.1f} %" if ours and ours.valid and has_rate else "-"
    return [
        *(_size(cell.bytes), _time(choice), best.words if best else "-", _time(best)),
        *(ours.words if ours else "-", _time(ours)),
        *(ratio_text(over(best, ours)), ratio_text(over(choice, ours))),
        *(microseconds(cell.line_us()) if has_rate else "-", share),
    ]


def one_by_one(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """All sides by size, each with how many times as long as the network it takes. Header and rows."""
    names = dict.fromkeys((side.name, side.streaming, side.label) for cell in cells for side in cell.sides)
    rows = []
    for name, streaming, label in sorted(names):
        sides = [
            cell.best(lambda side, key=(name, streaming): (side.name, side.streaming) == key)  # type: ignore[misc]
            for cell in cells
        ]
        times = [_beside(side, cell) for side, cell in zip(sides, cells, strict=True)]
        counts = sorted({side.runs for side in sides if side})
        runs = "-".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "-"
        rows.append([label, *times, runs])
    return ["side", *(_size(cell.bytes) for cell in cells), "runs"], rows


def _beside(side: Side | None, cell: Cell) -> str:
    if side is None:
        return "-"
    if not side.valid:
        return _time(side)
    ratio = over(side, cell.in_network())
    ours = side.aggregates and ratio == 1
    return microseconds(side.median_us) + ("" if ratio is None or ours else f" ({ratio_text(ratio)})")


def stage_rows(some: Sequence[Cell], cells: Sequence[Cell]) -> list[list[str]]:
    """Of some of the cells, beside what all of them say of the network alone."""
    known = {(cell.group, cell.bytes): cell for cell in cells}
    rows = []
    for cell in some:
        alone = net_targets.stage_alone(cell, known)
        staged = [side for side in cell.sides if side.is_staged]
        for side in sorted(staged, key=lambda side: side.median_us):
            rows.append([
                *(_where(cell.group), _size(cell.bytes), side.words, _time(side), str(side.runs)),
                ratio_text(over(side, alone)),
            ])  # fmt: skip
    return rows


def bytes_rows(found: Sequence[Traffic]) -> list[list[str]]:
    return [
        [
            *(f"{one.mpi}, {one.situation()}", _size(one.bytes), one.side),
            *(f"{one.up_bytes:,.0f}", f"{one.down_bytes:,.0f}"),
            f"{100 * one.off():.2f} %" if net_traffic.is_judged(one) else "-",
            f"{net_traffic.ring(one):,.0f}",
        ]
        for one in net_traffic.latest(found)
    ]


def traced_rows(calls: Sequence[Call]) -> list[list[str]]:
    return [
        [
            *(f"{call.placed.mpi}, {call.placed.situation()}", _size(call.placed.bytes)),
            call.placed.side.partition(":")[2],
            *(microseconds(call.busy_us(stage)) for stage in net_stages.STAGES),
            microseconds(call.makespan_us()),
        ]
        for call in calls
    ]


def balanced_rows(stages: Sequence[Stages]) -> list[list[str]]:
    return [
        [
            one.recipe,
            *map(microseconds, (one.reduce_us, one.network_us, one.broadcast_us, one.makespan_us)),
            ratio_text(one.overlap()),
        ]
        for one in stages
    ]


def _load(runs: Sequence[Run]) -> str:
    loads = [run.load for run in runs]
    return f"Load before the jobs: median {statistics.median(loads):.1f} ({min(loads):.1f}-{max(loads):.1f})."


def _picture(folder: Path, name: str, words: str) -> Lines:
    return [f"![{words}]({PICTURES[name]})", ""] if (folder / PICTURES[name]).exists() else []


def _known(name: str) -> tuple[str, str]:
    """Title and text; records outlive experiments."""
    for experiment in net_experiments.EXPERIMENTS:
        if experiment.name == name:
            return experiment.title, experiment.text
    return name, "Measured by an earlier version."


def _headed(name: str) -> Lines:
    title, text = _known(name)
    return [f"### {title}", "", text, ""]


def _timed(name: str, runs: Sequence[Run], cells: Sequence[Cell]) -> Lines:
    """Of one experiment. Cells are of all, so that what is the same has all its runs."""
    some = [run for run in runs if run.experiment == name]
    wanted = {(Group(run.mpi, run.situation(), run.collective), run.bytes) for run in some}
    own = [cell for cell in cells if (cell.group, cell.bytes) in wanted]
    lines = [*_headed(name), _load(some), ""]
    if name == "stages":
        lines += table(STAGES_HEADER, stage_rows(own, cells))
    for group, found in net_cells.by_group(own).items():
        header, rows = one_by_one(found)
        lines += [f"#### {group}", "", *table(CELLS_HEADER, [cell_row(cell) for cell in found])]
        lines += table(header, rows)
    return lines


def _counted(found: Found, folder: Path) -> Lines:
    if not found.traffic:
        return []
    lines = [
        *_headed("bytes"),
        f"The target is {100 * net_traffic.TARGET:g} % of the vector, either way.",
        "",
    ]
    return [*lines, *_picture(folder, "bytes", "Bytes on a node's link, by algorithm and nodes"),
            *table(BYTES_HEADER, bytes_rows(found.traffic))]  # fmt: skip


def _traced(found: Found, folder: Path) -> Lines:
    if not found.spans:
        return []
    return [*_headed("timeline"), *_picture(folder, "stages", "Segments in the three stages, over time"),
            *table(TRACED_HEADER, traced_rows(found.calls()))]  # fmt: skip


def _balanced(found: Found) -> Lines:
    stages = found.balanced()
    return ["### Where the stages balance", "", *_balance.splitlines(), "",
            *table(BALANCED_HEADER, balanced_rows(stages))] if stages else []  # fmt: skip


def draw(found: Found, folder: Path) -> list[Path]:
    """The pictures that the section refers to."""
    drawn = []
    groups = net_plot.latencies({
        group: cells
        for group, cells in net_cells.by_group(found.cells()).items()
        if group.collective == "allreduce" and group.situation.ppn == 1
    })  # fmt: skip
    if groups:
        drawn.append(folder / PICTURES["latencies"])
        net_plot.draw_latencies(groups, drawn[-1])
    if found.traffic:
        drawn.append(folder / PICTURES["bytes"])
        net_plot.draw_bytes(net_traffic.latest(found.traffic), drawn[-1])
    if found.spans:
        drawn.append(folder / PICTURES["stages"])
        net_plot.draw_stages(found.calls(), drawn[-1])
    return drawn


def section(found: Found, folder: Path = Path()) -> Lines:
    """`folder`: where the page will be, and perhaps pictures. Nothing, where nothing was measured."""
    records = found.all()
    if not records:
        return []
    lines = ["## Reduction inside the network", "", *_intro.splitlines(), "", *machines(records)]
    verdicts = found.verdicts()
    lines += ["### Targets", "", *table(SUMMARY_HEADER, summary_rows(verdicts))]
    lines += table(VERDICTS_HEADER, verdict_rows(verdicts)) if verdicts else []
    lines += _picture(folder, "latencies", "Allreduce in the network and between hosts: time by size")
    cells = found.cells()
    order = [experiment.name for experiment in net_experiments.EXPERIMENTS]
    names = dict.fromkeys([*order, *(run.experiment for run in found.runs)])
    for name in names:
        if any(run.experiment == name for run in found.runs):
            lines += _timed(name, found.runs, cells)
    return [*lines, *_counted(found, folder), *_traced(found, folder), *_balanced(found)]
