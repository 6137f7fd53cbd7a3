"""The runs of one collective and size in one situation: its sides, the best of them, and two bounds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hocket.bench.net import Run
from hocket.bench.net_experiments import Situation, is_aggregated, is_staged
from hocket.bench.topology import hocket_side, native_side
from hocket.bench.topology_experiments import ASKED_RUNS
from hocket.lab import costs

CHOICE = native_side("")


@dataclass(frozen=True)
class Side:
    """What all runs of a side say together."""

    name: str
    streaming: bool
    runs: int
    median_us: float  # of the runs' medians
    least_us: float
    most_us: float
    valid: bool

    @property
    def recipe(self) -> str:
        """Or the MPI's algorithm; "": its choice."""
        return self.name.partition(":")[2]

    @property
    def words(self) -> str:
        """Without the family."""
        mode = ", small mode" if self.aggregates and not self.streaming else ""
        return f"{self.recipe or 'choice'}{mode}"

    @property
    def label(self) -> str:
        return self.words if not self.is_native else f"the MPI: {self.words}"

    @property
    def is_native(self) -> bool:
        return self.name.startswith("native")

    @property
    def aggregates(self) -> bool:
        return not self.is_native and is_aggregated(self.recipe)

    @property
    def is_staged(self) -> bool:
        return not self.is_native and is_staged(self.recipe)

    @property
    def has_few_runs(self) -> bool:
        return self.runs < ASKED_RUNS


@dataclass(frozen=True)
class Group:
    """What a table is of."""

    mpi: str
    situation: Situation
    collective: str

    def __str__(self) -> str:
        return f"{self.collective}, {self.mpi}: {self.situation}"


@dataclass(frozen=True)
class Cell:
    group: Group
    bytes: int
    sides: Sequence[Side]

    def best(self, fits: Callable[[Side], bool]) -> Side | None:
        """The fastest of those; one with few runs, or a wrong result, only where there is no other."""
        some = [side for side in self.sides if fits(side)]
        return min(some, key=lambda side: (not side.valid, side.has_few_runs, side.median_us), default=None)

    def named(self, name: str) -> Side | None:
        return self.best(lambda side: side.name == name)

    def best_native(self) -> Side | None:
        """Of the MPI's choice and all that it was forced to, whatever the runs."""
        some = [side for side in self.sides if side.valid and side.is_native]
        return min(some, key=lambda side: side.median_us, default=None)

    def in_network(self) -> Side | None:
        return self.best(lambda side: side.aggregates)

    def own(self, recipe: str) -> Side | None:
        return self.named(hocket_side(recipe))

    def line_us(self) -> float:
        """As many bytes as the vector has at the links' rate, headers included: up and down at a time."""
        at = self.group.situation
        return 8e6 * self.bytes / at.rate / costs.efficiency(at.latency_us)

    def ring_us(self) -> float:
        """What hosts need at the links' rate without the network's help, however they do it."""
        nodes = self.group.situation.nodes
        return 2 * (nodes - 1) / nodes * self.line_us()


def over(slower: Side | None, faster: Side | None) -> float | None:
    """Nothing where a side is missing or wrong."""
    if not slower or not faster or not slower.valid or not faster.valid:
        return None
    return slower.median_us / faster.median_us


def _side(name: str, streaming: bool, runs: Sequence[Run]) -> Side:
    medians = [run.median_us for run in runs]
    middle, valid = statistics.median(medians), all(run.valid for run in runs)
    return Side(name, streaming, len(runs), middle, min(medians), max(medians), valid)


_Sides = dict[tuple[str, bool], list[Run]]


def cells(runs: Iterable[Run]) -> list[Cell]:
    """Whatever the experiment: what is the same is measured once."""
    found: dict[tuple[Group, int], _Sides] = {}
    for run in runs:
        key = (Group(run.mpi, run.situation(), run.collective), run.bytes)
        found.setdefault(key, {}).setdefault((run.side, run.streaming), []).append(run)
    return [
        Cell(group, size, [_side(*which, some) for which, some in sorted(sides.items())])
        for (group, size), sides in found.items()
    ]


def by_group(found: Iterable[Cell]) -> dict[Group, list[Cell]]:
    groups: dict[Group, list[Cell]] = {}
    for cell in found:
        groups.setdefault(cell.group, []).append(cell)
    return {group: sorted(some, key=lambda cell: cell.bytes) for group, some in groups.items()}
