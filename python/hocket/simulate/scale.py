"""What collectives would take on a machine: one prediction for each algorithm and number of ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hocket import catalog
from hocket.core import core
from hocket.errors import CommandError
from hocket.simulate import network
from hocket.simulate.machine import Machine
from hocket.simulate.placement import Placement, places


@dataclass(frozen=True)
class Call:
    collective: str
    size: int  # bytes of the vector, or of one block
    root: int = 0
    commutative: bool = True


@dataclass(frozen=True)
class Carried:
    """What leaves the groups of a level."""

    level: str
    messages: int
    bytes: int
    most: int  # out of, or into, the busiest group
    busiest: str
    busy: float = 0.0  # the part of the time that this group's link is; 0 where it has none


@dataclass(frozen=True)
class Prediction:
    """In nanoseconds; or why there is none."""

    algorithm: str
    ranks: int
    total: float = 0.0
    cpu: float = 0.0  # of an average rank
    slowest_cpu: float = 0.0  # of the rank that ends last
    busiest_rank: int = 0  # by CPU time
    extrapolated: bool = False
    carried: tuple[Carried, ...] = ()
    refusal: str = ""


def _group_name(machine: Machine, level: str, placed: Placement, rank: int) -> str:
    node = machine.shape.nodes[placed.nodes[rank]]
    return node if level == "node" else f"{level} of {node}"


def _carried(machine: Machine, placed: Placement, found: dict[str, Any]) -> Iterable[Carried]:
    for each in found["traffic"]:
        level, most = each["level"], each["most"]
        link = machine.links.get(level)
        busy = most * link.per_byte() / found["slowest"] if link and found["slowest"] else 0.0
        name = _group_name(machine, level, placed, each["busiest"]) if most else "-"
        yield Carried(level, each["messages"], each["bytes"], most, name, busy)


def predict(machine: Machine, placed: Placement, call: Call, algorithm: str) -> Prediction:
    """By LogGP clocks, and links that serve messages one after the other."""
    try:
        found: dict[str, Any] = core().simulate_at_scale(
            call.collective, algorithm, placed.ranks, call.root, call.commutative, call.size,
            network.of(machine, placed), places(machine.shape, placed),
        )  # fmt: skip
    except RuntimeError as problem:
        return Prediction(algorithm, placed.ranks, refusal=str(problem))
    busy = found["busy"]
    return Prediction(
        algorithm,
        placed.ranks,
        found["slowest"],
        found["mean_busy"],
        found["slowest_busy"],
        busy.index(max(busy)),
        found["extrapolated"],
        tuple(_carried(machine, placed, found)),
    )


def flat_rows(collective: str) -> list[str]:
    """Those that send messages."""
    return [row["name"] for row in catalog.rows(collective) if row["access"] == "two_sided"]


def _levels(machine: Machine, placed: Placement) -> list[str]:
    """By what a hierarchy may follow the machine."""
    several = len(placed.used()) < placed.ranks
    leaves = bool(machine.shape.above)
    by = [*(["nodes"] if several else []), *(["leaves"] if leaves else [])]
    return [*by, "+".join(by)] if len(by) == 2 else by


def _in_network(machine: Machine, placed: Placement, call: Call) -> list[str]:
    """Where switches reduce: by leaders of nodes, if there are several ranks on one."""
    if not machine.switches:
        return []
    names = [row["name"] for row in catalog.rows(call.collective) if row["access"] == "in_network"]
    several = len(placed.used()) < placed.ranks
    return [f"{name} by nodes" if several else name for name in names]


def usual(
    machine: Machine, placed: Placement, call: Call, predicted: Callable[[str], Prediction]
) -> list[Prediction]:
    """All flat rows, the fastest of them by levels of the machine and in its order, and what switches do."""
    flat = [predicted(name) for name in flat_rows(call.collective)]
    in_network = [predicted(each) for each in _in_network(machine, placed, call)]
    fits = [each for each in flat if not each.refusal]
    if not fits:
        return [*flat, *in_network]
    fastest = min(fits, key=lambda each: each.total).algorithm
    texts = [f"{fastest} by {by}" for by in _levels(machine, placed)]
    if list(placed.nodes) != sorted(placed.nodes):
        texts.append(f"{fastest} reordered")
    return [*flat, *(predicted(text) for text in texts), *in_network]


def checked(call: Call, ranks: int) -> Call:
    if not 0 <= call.root < ranks:
        raise CommandError(f"there is no root {call.root} among {ranks} ranks")
    return call
