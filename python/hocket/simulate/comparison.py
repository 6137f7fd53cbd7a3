"""The closed formulas beside the simulation, for gather and scatter."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from hocket.errors import CommandError
from hocket.loggp.parameters import Level
from hocket.simulate import formulas, scale
from hocket.simulate.formulas import Costs, Exchanges, Terms
from hocket.simulate.machine import FARTHEST, Machine
from hocket.simulate.placement import Placement, groups
from hocket.simulate.scale import Call

COLLECTIVES = ("gather", "scatter")


@dataclass(frozen=True)
class Row:
    """In nanoseconds."""

    name: str  # of the formula
    algorithm: str
    collective: str
    exchanges: tuple[Exchanges, ...]
    terms: Terms
    alone: float  # simulated, without links
    shared: float  # simulated, with them

    @property
    def formula(self) -> float:
        """Without contention."""
        return self.terms.time()

    @property
    def alpha(self) -> float | None:
        """The contention with which the formula says what is simulated with links."""
        return self.terms.alpha(self.shared)


@dataclass(frozen=True)
class Ratio:
    """T_binomial / T_topo. By the far terms alone it is what the paper estimates."""

    collective: str
    far: float
    formula: float
    alone: float
    shared: float  # so also of the formulas, each with its alpha


def ratios(found: Sequence[Row]) -> list[Ratio]:
    """Of one number of ranks; none where all of them are under one switch."""
    topo = {row.collective: row for row in found if row.name == "T_topo"}
    return [
        Ratio(
            row.collective,
            row.terms.far / other.terms.far,
            row.formula / other.formula,
            row.alone / other.alone,
            row.shared / other.shared,
        )
        for row in found
        if row.name == "T_binomial" and (other := topo.get(row.collective)) and other.terms.far
    ]


def _costs(level: Level, size: int) -> Costs:
    protocol = [each for each in level.protocols if each.from_bytes <= size][-1]
    return Costs(protocol.L + 2 * protocol.o, max(protocol.G, protocol.O))


def _nearness(machine: Machine, placed: Placement) -> list[int]:
    """How near each rank is to rank 0: the number of the innermost level that holds both."""
    numbers = [groups(machine.shape, level.name, placed) for level in machine.levels[:-1]]
    return [
        next((i for i, level in enumerate(numbers) if level[rank] == level[0]), len(numbers))
        for rank in range(placed.ranks)
    ]


def _without_links(machine: Machine) -> Machine:
    return dataclasses.replace(machine, links={})


def _row(
    machine: Machine, placed: Placement, call: Call, found: tuple[str, str, tuple[Exchanges, ...], Terms]
) -> Row:
    name, algorithm, exchanges, terms = found
    times = []
    for each in (_without_links(machine), machine):
        prediction = scale.predict(each, placed, call, algorithm)
        if prediction.refusal:
            raise CommandError(f"{call.collective} {algorithm}: {prediction.refusal}", 1)
        times.append(prediction.total)
    return Row(name, algorithm, call.collective, exchanges, terms, *times)


def rows(machine: Machine, placed: Placement, size: int) -> list[Row]:
    """Of blocks of so many bytes, rank 0 the root."""
    costs = [_costs(level, size) for level in machine.levels]
    near = _nearness(machine, placed)
    exchanges = formulas.binomial_exchanges(placed.ranks, near, len(costs))
    all_bytes = float(size * placed.ranks)
    kinds = [("T_binomial", "knomial", exchanges, formulas.t_binomial(costs, exchanges, all_bytes))]
    leaf = next(iter(machine.shape.above), FARTHEST)
    leaves = groups(machine.shape, leaf, placed) if leaf != FARTHEST else [0] * placed.ranks
    racks = len(set(leaves))
    if 1 < racks < placed.ranks:
        in_rack = [level for level, group in zip(near, leaves, strict=True) if group == leaves[0]]
        inside = formulas.binomial_exchanges(len(in_rack), in_rack, len(costs))
        terms = formulas.t_topo(costs, inside, all_bytes, racks)
        kinds.append(("T_topo", "knomial by leaves(radix=2)", inside, terms))
    return [
        _row(machine, placed, Call(collective, size), kind) for kind in kinds for collective in COLLECTIVES
    ]
