"""The same schedules on SimGrid (Casanova et al. 2014): messages that share a link share its capacity at the
same time, and other jobs may be under way. Each run is a process of its own, as SimGrid has one engine."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hocket.errors import CommandError
from hocket.loggp.parameters import Level
from hocket.simulate import network
from hocket.simulate.machine import FARTHEST, Machine
from hocket.simulate.placement import Placement, places
from hocket.simulate.scale import Call, Prediction

MOST_RANKS = 16384
MOST_OF_OTHERS = 200_000  # messages of other jobs: some 15 s
_bound_seconds = 600.0
_unlimited = 1e15  # bytes per second
_code = "import json, sys; from hocket import _simgrid; print(json.dumps(_simgrid.run(json.load(sys.stdin))))"


@dataclass(frozen=True)
class Others:
    """Jobs beside one's own: their nodes, and what each node at least sends to each other one, again and
    again."""

    nodes: Sequence[Sequence[int]] = ()
    bytes: int = 65536


def is_there() -> bool:
    return importlib.util.find_spec("hocket._simgrid") is not None


def _outside(machine: Machine) -> list[Level]:
    """What a message between nodes may be near by, from the inside out: the levels above nodes."""
    names = ("node", *machine.shape.above)
    there = [level for level in machine.levels if level.name in (*names[1:], FARTHEST)]
    return there


def _wire(machine: Machine, level: str, latency: float, per_byte: float) -> dict[str, float]:
    """Latency in ns. A link that the machine does not limit passes what LogGP says of one message."""
    link = machine.links.get(level)
    rate = 1e9 / link.per_byte() if link else 1e9 / per_byte if per_byte > 0 else _unlimited
    return {"bandwidth": rate, "latency": 1e-9 * max(latency, 0.0)}


def _platform(machine: Machine) -> dict[str, Any]:
    """Half of a level's latency that the next inner one does not have is on the way up, half on that down."""
    above = [level.name for level in machine.levels if level.name in machine.shape.above]
    outside = _outside(machine)
    latency = [level.protocols[-1].L for level in outside]
    inside = next((level for level in machine.levels if level.shared_memory), machine.levels[0]).protocols[-1]
    uplinks = [_wire(machine, name, (latency[i + 1] - latency[i]) / 2, 0.0) for i, name in enumerate(above)]
    return {
        "groups": [list(machine.shape.above[name]) for name in above],
        "inside": {"bandwidth": 1e9 / inside.G if inside.G else _unlimited, "latency": 1e-9 * inside.L},
        "card": _wire(machine, "node", latency[0] / 2, outside[0].protocols[-1].G),
        "uplinks": uplinks,
    }


def _request(
    machine: Machine, placed: Placement, call: Call, algorithm: str, others: Others
) -> dict[str, Any]:
    return {
        "collective": call.collective,
        "recipe": algorithm,
        "root": call.root,
        "commutative": call.commutative,
        "bytes": call.size,
        "network": network.of(machine, placed),
        "places": places(machine.shape, placed),
        "nodes": list(placed.nodes),
        "hosts": len(machine.shape.nodes),
        "platform": _platform(machine),
        "others": [list(nodes) for nodes in others.nodes if len(nodes) > 1],
        "other_bytes": others.bytes,
    }


def check(most_ranks: int) -> None:
    """Throws CommandError where SimGrid cannot simulate so many."""
    if not is_there():
        raise CommandError("SimGrid is not built in: install libsimgrid-dev and build again", 1)
    if most_ranks > MOST_RANKS:
        raise CommandError(
            f"SimGrid simulates up to {MOST_RANKS} ranks, and not {most_ranks}: take fewer, "
            "or --engine loggp without --jobs"
        )


def bytes_of_others(machine: Machine, others: Others, alone_ns: float) -> int:
    """64 KiB may be more messages than can be simulated; larger ones load the same links as much."""
    card = machine.links.get("node")
    per_byte = card.per_byte() if card else _outside(machine)[0].protocols[-1].G
    nodes = sum(len(some) for some in others.nodes)
    carried = nodes * alone_ns / per_byte if per_byte else 0.0
    return max(others.bytes, math.ceil(carried / MOST_OF_OTHERS))


def predict(
    machine: Machine, placed: Placement, call: Call, algorithm: str, others: Others | None = None
) -> Prediction:
    check(placed.ranks)
    alone = _run(_request(machine, placed, call, algorithm, Others()), algorithm)
    if not others or alone.refusal:
        return alone
    sized = Others(others.nodes, bytes_of_others(machine, others, alone.total))
    return _run(_request(machine, placed, call, algorithm, sized), algorithm)


def _run(request: dict[str, Any], algorithm: str) -> Prediction:
    ranks = len(request["nodes"])
    try:
        done = subprocess.run(
            [sys.executable, "-c", _code],
            input=json.dumps(request),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            timeout=_bound_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Prediction(algorithm, ranks, refusal=f"SimGrid took more than {_bound_seconds:g} s")
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return Prediction(algorithm, ranks, refusal=last.removeprefix("RuntimeError: "))
    finish = json.loads(done.stdout.splitlines()[-1])
    return Prediction(algorithm, ranks, max(finish), busiest_rank=finish.index(max(finish)))
