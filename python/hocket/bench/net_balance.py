"""The three stages of a call where they balance: a prediction, since in a lab the links take a hundred times
as long as what happens inside its nodes.

A leader has one way in and one way out, for what comes from its node and from the network alike (LogGP), so
that in this model three stages do not get as far as three times.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from hocket.bench.net_experiments import Situation
from hocket.simulate import machine, placement, scale
from hocket.simulate.machine import Machine
from hocket.simulate.scale import Call

SITUATION = Situation(leaves=4, nodes=16, ppn=2)
BYTES = 1 << 20
SEGMENTS = (1, 4, 8, 16, 32)
_goodput = 0.957  # of TCP over Ethernet
_per_byte = 8e9 / (_goodput * SITUATION.rate)  # ns, on a link
# A node whose ranks need as long to reduce a vector as the link to carry it.
_node_per_byte, _reduce_per_byte = 40.0, 45.0


def _level(name: str, latency: float, per_byte: float) -> dict[str, Any]:
    protocol = {"from_bytes": 0, "L": latency, "o": 500, "g": 500, "G": per_byte}
    return {"name": name, "protocols": [protocol]}


@functools.cache
def _machine() -> Machine:
    link = {"rate": f"{SITUATION.rate}bit", "efficiency": _goodput}
    levels = [
        _level("node", 500, _node_per_byte),
        _level("leaf", 10_000, _per_byte),
        _level("all", 20_000, _per_byte),
    ]
    topology = f"leaf:{SITUATION.leaves} node:{SITUATION.nodes // SITUATION.leaves} core:{SITUATION.ppn}"
    return machine.from_dict({
        "schema": "hocket-loggp-1",
        "topology": topology,
        "levels": levels,
        "links": {"node": link, "leaf": link},
        "switches": {"latency_ns": 300},
        "copy": 0.05,
        "reduce": _reduce_per_byte,
    })  # fmt: skip


def _predicted(collective: str, algorithm: str, nodes: int, each: int) -> float:
    """Microseconds."""
    at = _machine()
    some = placement.ordered(at.shape, "block", 1)[:nodes]
    found = scale.predict(
        at, placement.on_nodes(some, nodes * each, each), Call(collective, BYTES), algorithm
    )
    return found.total / 1e3


@dataclass(frozen=True)
class Stages:
    """Each alone, and all of a call in so many segments; microseconds."""

    reduce_us: float
    network_us: float
    broadcast_us: float
    segments: int
    makespan_us: float

    @property
    def recipe(self) -> str:
        return recipe(self.segments)

    def overlap(self) -> float:
        """The sum of all three over the makespan."""
        return (self.reduce_us + self.network_us + self.broadcast_us) / self.makespan_us


def recipe(segments: int) -> str:
    return "in_network by nodes" + (f" in {segments} segments" if segments > 1 else "")


@functools.cache
def predicted() -> tuple[Stages, ...]:
    nodes, each = SITUATION.nodes, SITUATION.ppn
    alone = (
        _predicted("reduce", "knomial(segments=1)", 1, each),
        _predicted("allreduce", "in_network", nodes, 1),
        _predicted("bcast", "knomial(segments=1)", 1, each),
    )
    return tuple(Stages(*alone, k, _predicted("allreduce", recipe(k), nodes, each)) for k in SEGMENTS)
