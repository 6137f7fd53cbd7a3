"""A cell beside its targets: what the best recipe reached, and what the rules took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hocket.bench import topology, topology_cells, topology_experiments
from hocket.bench.topology_algorithms import of_mpi
from hocket.bench.topology_cells import Cell, Side
from hocket.bench.topology_experiments import Experiment, Target
from hocket.errors import CommandError


class State(Enum):
    REACHED = "reached"
    MISSED = "missed"
    OUT_OF_REACH = "out of reach"
    TOO_FEW = "too few runs"


@dataclass(frozen=True)
class Verdict:
    target: Target
    by_rules: bool  # else of the best recipe
    runs: int  # of the side that has the fewest
    asked: int
    value: float | None = None
    most: float | None = None  # that the bound leaves

    @property
    def state(self) -> State:
        if self.runs < self.asked or self.value is None:
            return State.TOO_FEW
        value = round(self.value, 2)
        if value <= self.target.ratio if self.target.of_bound else value >= self.target.ratio:
            return State.REACHED
        if self.most is not None and not self.target.of_bound and self.most < self.target.ratio:
            return State.OUT_OF_REACH
        return State.MISSED

    @property
    def shortfall(self) -> float:
        """How many times more it should be, or less."""
        if not self.value:
            return 0.0
        lacking = self.target.ratio / self.value
        return 1 / lacking if self.target.of_bound else lacking

    def __str__(self) -> str:
        if self.state == State.TOO_FEW:
            return f"too few runs ({self.runs} of {self.asked})"
        text = f"{self.value:.2f}x {self.target.base}, {self.runs} runs ({self.target.relation})"
        if self.state == State.OUT_OF_REACH:
            text += f", out of reach: the bound leaves {self.most:.2f}x"
        return text

    @property
    def marked(self) -> str:
        """A miss is told plainly."""
        return f"**{self}, missed**" if self.state == State.MISSED else str(self)


def _experiment(name: str) -> Experiment | None:
    """Records outlive experiments: one that is gone has no target."""
    try:
        return topology_experiments.named(name)
    except CommandError:
        return None


def _rivals(experiment: Experiment, cell: Cell, target: Target) -> list[str]:
    """The sides that have to be known: the best of the MPI is the best of all that it was to be forced to."""
    if target.of_bound:
        return []
    if target.over:
        return [topology.native_side(target.over)]
    case = experiment.case_of(cell.group.collective, cell.bytes)
    table = of_mpi(cell.group.mpi, cell.group.collective)
    forced = [name for name in case.natives if name in table] if case else []
    return [topology.native_side(name) for name in ("", *forced)]


def _asked(experiment: Experiment, cell: Cell) -> int:
    case = experiment.case_of(cell.group.collective, cell.bytes)
    return case.asked_runs if case else topology_experiments.ASKED_RUNS


def _value(cell: Cell, target: Target, ours: Side | None) -> float | None:
    return cell.over_bound(ours) if target.of_bound else topology_cells.over(cell.native(target.over), ours)


def _verdict(experiment: Experiment, cell: Cell, target: Target, by_rules: bool) -> Verdict:
    ours = cell.by_rules() if by_rules else cell.best_hocket()
    sides = [ours, *(cell.named(name) for name in _rivals(experiment, cell, target))]
    runs = min(side.runs if side else 0 for side in sides)
    value, most = _value(cell, target, ours), cell.most_ratio(target.over)
    return Verdict(target, by_rules, runs, _asked(experiment, cell), value, most)


def _judged(experiment: Experiment, cell: Cell, target: Target) -> Iterator[Verdict]:
    yield _verdict(experiment, cell, target, by_rules=False)
    if cell.by_rules():
        yield _verdict(experiment, cell, target, by_rules=True)


def verdicts(name: str, cell: Cell) -> Sequence[Verdict]:
    """By the experiment's targets: of the best recipe, and of what the rules took if that was measured."""
    experiment = _experiment(name)
    if not experiment:
        return ()
    at = cell.group
    fitting = [one for one in experiment.targets if one.is_for(at.collective, cell.bytes, at.situation)]
    return [verdict for target in fitting for verdict in _judged(experiment, cell, target)]
