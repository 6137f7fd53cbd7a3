"""The runs of one collective and size in one situation: its sides, the best of them, bound and targets."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocket.bench import topology, topology_experiments
from hocket.bench.topology import Run
from hocket.bench.topology_experiments import Situation, Target
from hocket.errors import CommandError
from hocket.lab import costs


@dataclass(frozen=True)
class Side:
    """What all runs of a side say together."""

    name: str
    runs: int
    median_us: float  # of the runs' medians
    least_us: float
    most_us: float
    valid: bool

    @property
    def words(self) -> str:
        """Without the family: `linear by leaves`, `binomial`; the MPI's own choice is its `choice`."""
        family, _, words = self.name.partition(":")
        return words or ("choice" if family == "native" else family)

    @property
    def is_native(self) -> bool:
        return self.name.startswith("native")


def _side(name: str, runs: Sequence[Run]) -> Side:
    medians = [run.median_us for run in runs]
    middle = statistics.median(medians)
    return Side(name, len(runs), middle, min(medians), max(medians), all(run.valid for run in runs))


@dataclass(frozen=True)
class Group:
    """What a table is of."""

    mpi: str
    situation: Situation
    collective: str


@dataclass(frozen=True)
class Cell:
    group: Group
    bytes: int
    sides: Sequence[Side]

    def named(self, name: str) -> Side | None:
        return next((side for side in self.sides if side.name == name), None)

    def _best(self, is_native: bool) -> Side | None:
        fitting = [side for side in self.sides if side.valid and side.is_native == is_native]
        return min(fitting, key=lambda side: side.median_us, default=None)

    def best_native(self) -> Side | None:
        return self._best(True)

    def best_hocket(self) -> Side | None:
        return self._best(False)

    def ratio(self, over: str = "") -> float | None:
        """Of Hocket's best recipe over an algorithm of the MPI, or over its best one."""
        native, ours = self._native(over), self.best_hocket()
        return native.median_us / ours.median_us if native and native.valid and ours else None

    def bound_us(self) -> float | None:
        """At line rate over the link that has to carry the most, however it is done; without any latency."""
        node, uplink = _least_bytes(self.group.collective, self.bytes, self.group.situation)
        seconds = max(8 * node / self.group.situation.rate, 8 * uplink / self.group.situation.uplink)
        return 1e6 * seconds / costs.efficiency(self.group.situation.latency_us) or None

    def _native(self, over: str) -> Side | None:
        return self.named(topology.native_side(over)) if over else self.best_native()

    def most_ratio(self, over: str = "") -> float | None:
        """That the bound leaves."""
        native, bound = self._native(over), self.bound_us()
        return native.median_us / bound if native and bound else None

    def over_bound(self) -> float | None:
        ours, bound = self.best_hocket(), self.bound_us()
        return ours.median_us / bound if ours and bound else None


def _least_bytes(collective: str, size: int, at: Situation) -> tuple[float, float]:
    """What one node's link and one leaf's uplink have to carry in one direction."""
    inside_node, inside_leaf = at.ppn, at.nodes * at.ppn
    off_node, off_leaf = at.ranks - inside_node, at.ranks - inside_leaf
    if collective in ("gather", "scatter", "allgather"):
        return off_node * size, off_leaf * size
    if collective in ("alltoall", "alltoallv"):
        return inside_node * off_node * size, inside_leaf * off_leaf * size
    if collective == "allreduce":
        count = at.leaves * at.nodes
        return 2 * (count - 1) / count * size, 2 * (at.leaves - 1) / at.leaves * size
    return size, size if at.leaves > 1 else 0


def cells(runs: Iterable[Run]) -> list[Cell]:
    """Of what was timed, in the order in which it first ran."""
    found: dict[tuple[Group, int], dict[str, list[Run]]] = {}
    for run in runs:
        if run.uplink_bytes != topology.NOT_COUNTED:
            continue
        group = Group(run.mpi, run.situation(), run.collective)
        found.setdefault((group, run.bytes), {}).setdefault(run.side, []).append(run)
    return [
        Cell(group, size, [_side(name, some) for name, some in sorted(sides.items())])
        for (group, size), sides in found.items()
    ]


def by_group(found: Iterable[Cell]) -> dict[Group, list[Cell]]:
    groups: dict[Group, list[Cell]] = {}
    for cell in found:
        groups.setdefault(cell.group, []).append(cell)
    return {group: sorted(some, key=lambda cell: cell.bytes) for group, some in groups.items()}


@dataclass(frozen=True)
class Verdict:
    target: Target
    value: float
    most: float | None = None  # that the bound leaves

    @property
    def is_met(self) -> bool:
        value = round(self.value, 2)
        return value <= self.target.ratio if self.target.of_bound else value >= self.target.ratio

    def __str__(self) -> str:
        what = "of the bound" if self.target.of_bound else f"over {self.target.over or 'the best'}"
        relation = "at most" if self.target.of_bound else "at least"
        wanted = f"{relation} {self.target.ratio:g}x"
        if self.most is not None and not self.target.of_bound and self.most < self.target.ratio:
            wanted += f"; the bound leaves {self.most:.2f}x"
        return f"{self.value:.2f}x {what} ({wanted})"


def _targets(experiment: str) -> Sequence[Target]:
    """Records outlive experiments: one that is gone has no target."""
    try:
        return topology_experiments.named(experiment).targets
    except CommandError:
        return ()


def verdicts(experiment: str, cell: Cell) -> list[Verdict]:
    """Of the targets that can be judged by what was measured."""
    found = []
    for target in _targets(experiment):
        if not target.is_for(cell.group.collective, cell.bytes, cell.group.situation):
            continue
        value = cell.over_bound() if target.of_bound else cell.ratio(target.over)
        if value is not None:
            found.append(Verdict(target, value, cell.most_ratio(target.over)))
    return found
