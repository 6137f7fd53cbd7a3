"""What Hocket's selection expects of a recipe in the lab (src/tuning/model.hpp), before it is run."""

from __future__ import annotations

from functools import cache

from hocket.bench import topology_cells
from hocket.bench.topology_cells import Cell
from hocket.bench.topology_experiments import Situation
from hocket.core import core
from hocket.lab import jobs, tree

_startup_us, _message_us = 60.0, 20.0  # of a message of 8 bytes in the lab, where ranks share few cores
_memory_us_per_kib = 0.3


def places(at: Situation) -> list[list[int]]:
    """The node and the leaf of each rank."""
    machines = tree.build(at.shape())
    nodes = jobs.ordered(machines, tree.choose_nodes(machines, at.with_ranks()), at.placement)
    ranks = [nodes[rank // at.ppn] for rank in range(at.ranks)]
    leaves = [machines.named(node).parent for node in ranks]
    return [[names.index(name) for name in names] for names in (ranks, leaves)]


def costs(at: Situation) -> str:
    """As HOCKET_COSTS has them."""
    rate = topology_cells.line_rate(at)
    card, uplink = (8e6 * 1024 / (each * rate) for each in (at.rate, at.uplink))
    return (
        f"node {_startup_us} {_message_us} {_memory_us_per_kib}\n"
        f"leaf {_startup_us} {_message_us} {card}\n"
        f"switches {_startup_us + at.latency_us} {_message_us} {uplink}\n"
    )


@cache
def _cost(at: Situation, collective: str, recipe: str) -> tuple[float, float] | None:
    try:
        found: tuple[float, float] | None = core().cost(collective, recipe, places(at), costs(at))
    except RuntimeError:  # records outlive recipes
        return None
    return found


def predicted_us(cell: Cell, recipe: str) -> float | None:
    """None where the recipe does not fit, or has too many ranks."""
    found = _cost(cell.group.situation, cell.group.collective, recipe)
    return found[0] + found[1] * cell.bytes if found else None
