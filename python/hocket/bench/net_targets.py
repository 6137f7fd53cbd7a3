"""What reduction in the network should reach, and what was reached, cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hocket.bench import net_balance, net_experiments, net_traffic
from hocket.bench.net_balance import Stages
from hocket.bench.net_cells import Cell, Group, Side, over
from hocket.bench.net_traffic import Traffic
from hocket.bench.topology import native_side
from hocket.bench.topology_algorithms import of_mpi
from hocket.bench.topology_experiments import ASKED_RUNS

_KiB, _MiB = 1 << 10, 1 << 20
_mega = 10**6
RIVAL = "recursive_doubling"


class State(Enum):
    REACHED = "reached"
    PREDICTED = "predicted"  # to be reached, where it cannot be measured
    MISSED = "missed"
    OUT_OF_REACH = "out of reach"
    TOO_FEW = "too few runs"
    WRONG = "wrong result"


@dataclass(frozen=True)
class Target:
    words: str
    unit: str = "x"  # or %
    is_most: bool = False  # else the least
    scale: float = 1.0  # of a value, to the unit

    def text(self, value: float) -> str:
        digits = 1 if self.unit == "%" else 2
        return f"{self.scale * value:.{digits}f}{' %' if self.unit == '%' else self.unit}"


LINE_RATE = Target("line rate, 1 to 16 MiB at 100 Mbit", "%", scale=100)
OVER_BEST = Target("over the best of the MPI, large")
FLAT = Target("2 KiB over 8 B, 8 nodes", is_most=True)
OVER_NATIVE = Target("over the MPI's recursive doubling, small, links with a latency")
OVER_OWN = Target("over Hocket's recursive doubling, small, links with a latency")
MAKESPAN = Target("several ranks a node, over the network stage alone", is_most=True)
OVERLAP = Target("the three stages' sum over the makespan, where they balance")
BYTES = Target("bytes on a node's link, off by", "%", is_most=True, scale=100)
TARGETS = (LINE_RATE, OVER_BEST, FLAT, OVER_NATIVE, OVER_OWN, MAKESPAN, OVERLAP, BYTES)


@dataclass(frozen=True)
class Verdict:
    target: Target
    where: Group
    bytes: int
    limit: float
    value: float | None
    what: str  # which recipe, and beside what
    runs: int = ASKED_RUNS  # of the side that has the fewest
    asked: int = ASKED_RUNS
    most: float | None = None  # that the links' rate leaves
    is_predicted: bool = False

    @property
    def state(self) -> State:
        if self.runs < self.asked:
            return State.TOO_FEW
        if self.value is None:
            return State.WRONG
        value = round(self.value, 3)
        if value <= self.limit if self.target.is_most else value >= self.limit:
            return State.PREDICTED if self.is_predicted else State.REACHED
        is_forbidden = self.most is not None and not self.target.is_most and self.most < self.limit
        return State.OUT_OF_REACH if is_forbidden else State.MISSED

    @property
    def asked_text(self) -> str:
        return f"{'at most' if self.target.is_most else 'at least'} {self.target.text(self.limit)}"

    def __str__(self) -> str:
        if self.state == State.TOO_FEW:
            return f"too few runs ({self.runs} of {self.asked})"
        if self.state == State.OUT_OF_REACH and self.most is not None:
            return f"out of reach: the links leave {self.target.text(self.most)}"
        is_plain = self.state not in (State.MISSED, State.WRONG)
        return self.state.value if is_plain else f"**{self.state.value}**"


def _fewest(*sides: Side | None) -> int:
    return min(side.runs if side else 0 for side in sides)


def _is_plain(cell: Cell) -> bool:
    """An allreduce of one rank on each node, without a latency."""
    at = cell.group.situation
    return cell.group.collective == "allreduce" and at.ppn == 1 and not at.latency_us


def _line_rate(cell: Cell) -> Iterator[Verdict]:
    if not _is_plain(cell) or cell.group.situation.rate != 100 * _mega:
        return
    ours = cell.in_network()
    if ours and _MiB <= cell.bytes <= 16 * _MiB:
        share = cell.line_us() / ours.median_us if ours.valid else None
        yield Verdict(LINE_RATE, cell.group, cell.bytes, 0.95, share, ours.words, ours.runs)


# By rate in Mbit, bytes and nodes; 0: any
_LEAST_OVER_BEST = {
    (100, _MiB, 0): 1.9,
    (100, 16 * _MiB, 4): 1.45,
    (100, 16 * _MiB, 8): 1.7,
    (500, _MiB, 0): 1.4,
    (500, 16 * _MiB, 0): 1.4,
}


def _least_over_best(cell: Cell) -> float | None:
    at = cell.group.situation
    keys = [(at.rate // _mega, cell.bytes, nodes) for nodes in (at.nodes, 0)]
    return next((_LEAST_OVER_BEST[key] for key in keys if key in _LEAST_OVER_BEST), None)


def lacking_rivals(cell: Cell) -> list[str]:
    """Algorithms of the MPI that the experiments ask for there and nothing was measured of."""
    at, known = cell.group.situation, of_mpi(cell.group.mpi, cell.group.collective)
    asked = [
        name
        for experiment in net_experiments.EXPERIMENTS
        if at in experiment.situations and not experiment.counts_bytes and not experiment.traces
        for case in experiment.cases
        if case.collective == cell.group.collective and cell.bytes in case.sizes
        for name in (case.beside, *case.rivals)
        if not name or name in known
    ]
    return [name for name in dict.fromkeys(asked) if not cell.named(native_side(name))]


def _over_best(cell: Cell) -> Iterator[Verdict]:
    limit = _least_over_best(cell)
    if not _is_plain(cell) or not limit:
        return
    ours, best = cell.in_network(), cell.best_native()
    if not ours:
        return
    lacking = lacking_rivals(cell)
    what = f"{ours.words} over {best.words if best else '-'}"
    what += f"; not measured: {', '.join(name or 'choice' for name in lacking)}" if lacking else ""
    runs = 0 if lacking else _fewest(ours, best)
    most = best.median_us / cell.line_us() if best else None
    yield Verdict(OVER_BEST, cell.group, cell.bytes, limit, over(best, ours), what, runs, most=most)


def _is_small(cell: Cell) -> bool:
    at = cell.group.situation
    return (
        cell.group.collective == "allreduce"
        and at.is_apart
        and 8 <= at.nodes <= 16
        and 200 <= at.latency_us <= 500
        and cell.bytes <= 2 * _KiB
    )


def _over_hosts(cell: Cell) -> Iterator[Verdict]:
    ours = cell.in_network() if _is_small(cell) else None
    if not ours:
        return
    pairs = ((OVER_NATIVE, cell.named(native_side(RIVAL))), (OVER_OWN, cell.own(RIVAL)))
    for target, other in pairs:
        runs = _fewest(ours, other)
        yield Verdict(target, cell.group, cell.bytes, 1.5, over(other, ours), ours.words, runs)


_Known = dict[tuple[Group, int], Cell]


def _flat(cell: Cell, known: _Known) -> Iterator[Verdict]:
    at = cell.group.situation
    if cell.group.collective != "allreduce" or (at.nodes, at.ppn, cell.bytes) != (8, 1, 2 * _KiB):
        return
    least = known.get((cell.group, 8))
    ours, other = cell.in_network(), least.in_network() if least else None
    if ours:
        runs = _fewest(ours, other)
        yield Verdict(FLAT, cell.group, cell.bytes, 1.5, over(ours, other), ours.words, runs)


def stage_alone(cell: Cell, known: _Known) -> Side | None:
    """As many bytes between as many nodes, with a rank on each: nothing but the network."""
    at = cell.group.situation
    alone = net_experiments.Situation(at.leaves, at.nodes, 1, at.rate, at.latency_us)
    other = known.get((Group(cell.group.mpi, alone, cell.group.collective), cell.bytes))
    return other.in_network() if other else None


def _makespan(cell: Cell, known: _Known) -> Iterator[Verdict]:
    ours = cell.best(lambda side: side.is_staged)
    if cell.group.collective == "allreduce" and ours:
        alone = stage_alone(cell, known)
        runs = _fewest(ours, alone)
        yield Verdict(MAKESPAN, cell.group, cell.bytes, 1.05, over(ours, alone), ours.words, runs)


def _overlap(stages: Sequence[Stages]) -> Verdict:
    """A prediction, of which there is one."""
    best = max(stages, key=Stages.overlap)
    group = Group("predicted", net_balance.SITUATION, "allreduce")
    return Verdict(
        OVERLAP, group, net_balance.BYTES, 1.6, best.overlap(), best.recipe, 1, 1, is_predicted=True
    )


def _bytes(one: Traffic) -> Verdict:
    group = Group(one.mpi, one.situation(), one.collective)
    recipe = one.side.partition(":")[2]
    return Verdict(BYTES, group, one.bytes, net_traffic.TARGET, one.off(), recipe, 1, 1)


def verdicts(
    cells: Sequence[Cell], traffic: Sequence[Traffic], stages: Sequence[Stages] = ()
) -> list[Verdict]:
    """In the order of the targets."""
    known = {(cell.group, cell.bytes): cell for cell in cells}
    found = [
        verdict
        for cell in cells
        for some in (_line_rate(cell), _over_best(cell), _over_hosts(cell), _flat(cell, known),
                     _makespan(cell, known))
        for verdict in some
    ]  # fmt: skip
    found += [_overlap(stages)] if stages else []
    found += [_bytes(one) for one in net_traffic.latest(traffic) if net_traffic.is_judged(one)]
    return sorted(found, key=lambda verdict: TARGETS.index(verdict.target))


def in_short(found: Sequence[Verdict]) -> str:
    """2 of 4 reached, 1 missed, 1 out of reach"""
    if not found:
        return "not measured"
    states = Counter(verdict.state for verdict in found)
    words = [f"{states[State.REACHED]} of {len(found)} reached"]
    words += [f"{states[state]} {state.value}" for state in list(State)[1:] if states[state]]
    text = ", ".join(words)
    return f"**{text}**" if states[State.MISSED] or states[State.WRONG] else text
