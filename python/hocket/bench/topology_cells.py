"""The runs of one collective and size in one situation: its sides, the best of them, and the bound."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocket.bench import topology
from hocket.bench.topology import Run
from hocket.bench.topology_experiments import BY_RULES, LEAST_RUNS, Situation
from hocket.lab import costs

RULES = topology.hocket_side(BY_RULES)


def _taken_words(algorithm: str) -> str:
    return "left to the MPI" if algorithm == "native" else algorithm


@dataclass(frozen=True)
class Side:
    """What all runs of a side say together."""

    name: str
    runs: int
    median_us: float  # of the runs' medians
    least_us: float
    most_us: float
    valid: bool
    taken: tuple[str, ...] = ()  # by the rules

    @property
    def words(self) -> str:
        """Without the family: `linear by leaves`, `binomial`; the MPI's own choice is its `choice`."""
        if self.name == RULES:
            return " or ".join(_taken_words(name) for name in self.taken) or BY_RULES
        return self.name.partition(":")[2] or "choice"

    @property
    def is_native(self) -> bool:
        return self.name.startswith("native")

    @property
    def has_few_runs(self) -> bool:
        return self.runs < LEAST_RUNS


def _side(name: str, runs: Sequence[Run]) -> Side:
    medians = [run.median_us for run in runs]
    middle = statistics.median(medians)
    taken = tuple(sorted({run.algorithm for run in runs if run.algorithm}))
    return Side(name, len(runs), middle, min(medians), max(medians), all(run.valid for run in runs), taken)


def over(slower: Side | None, faster: Side | None) -> float | None:
    """Nothing where a side is missing or wrong, or has too few runs to say anything."""
    if not slower or not faster or not slower.valid or not faster.valid:
        return None
    return None if slower.has_few_runs or faster.has_few_runs else slower.median_us / faster.median_us


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
    left_us: float = (
        0.0  # the least that the bytes take beside traffic of others (topology_traffic); 0: not known
    )

    def named(self, name: str) -> Side | None:
        return next((side for side in self.sides if side.name == name), None)

    def _best(self, is_native: bool) -> Side | None:
        """A side with few runs is the best one only among its like."""
        fitting = [side for side in self.sides if side.valid and side.is_native == is_native]
        forced = [side for side in fitting if side.name != RULES]
        return min(forced, key=lambda side: (side.has_few_runs, side.median_us), default=None)

    def best_native(self) -> Side | None:
        return self._best(True)

    def best_hocket(self) -> Side | None:
        """Of the recipes that were forced."""
        return self._best(False)

    def by_rules(self) -> Side | None:
        return self.named(RULES)

    def native(self, name: str = "") -> Side | None:
        """An algorithm of the MPI, or its best one."""
        return self.named(topology.native_side(name)) if name else self.best_native()

    def ratio(self, name: str = "") -> float | None:
        """Of Hocket's best recipe over an algorithm of the MPI, or over its best one."""
        return over(self.native(name), self.best_hocket())

    def regret(self) -> float | None:
        """How many times as long as the best recipe takes what the rules take."""
        return over(self.by_rules(), self.best_hocket())

    def bound_us(self) -> float | None:
        """At line rate over the link that has to carry the most, however it is done; without any latency.
        Beside traffic what that was seen to leave, if it is more."""
        node, uplink = _least_bytes(self.group.collective, self.bytes, self.group.situation)
        seconds = max(8 * node / self.group.situation.rate, 8 * uplink / self.group.situation.uplink)
        return max(self.left_us, 1e6 * seconds / costs.efficiency(self.group.situation.latency_us)) or None

    def most_ratio(self, name: str = "") -> float | None:
        """That the bound leaves."""
        native, bound = self.native(name), self.bound_us()
        return native.median_us / bound if native and bound else None

    def over_bound(self, ours: Side | None) -> float | None:
        bound = self.bound_us()
        return ours.median_us / bound if bound and ours and ours.valid and not ours.has_few_runs else None


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


def group_of(run: Run) -> Group:
    return Group(run.mpi, run.situation(), run.collective)


def cells(runs: Iterable[Run]) -> list[Cell]:
    """Of what was timed, in the order in which it first ran."""
    found: dict[tuple[Group, int], dict[str, list[Run]]] = {}
    for run in runs:
        if run.uplink_bytes != topology.NOT_COUNTED:
            continue
        found.setdefault((group_of(run), run.bytes), {}).setdefault(run.side, []).append(run)
    return [
        Cell(group, size, [_side(name, some) for name, some in sorted(sides.items())])
        for (group, size), sides in found.items()
    ]


def by_group(found: Iterable[Cell]) -> dict[Group, list[Cell]]:
    groups: dict[Group, list[Cell]] = {}
    for cell in found:
        groups.setdefault(cell.group, []).append(cell)
    return {group: sorted(some, key=lambda cell: cell.bytes) for group, some in groups.items()}
