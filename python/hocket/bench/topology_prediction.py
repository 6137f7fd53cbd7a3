"""What Hocket's selection expects of a recipe in the lab (src/tuning/model.hpp), before it is run."""

from __future__ import annotations

from functools import cache

from hocket.bench.topology_cells import Cell
from hocket.bench.topology_experiments import Situation
from hocket.core import core
from hocket.lab import costs, jobs, tree
from hocket.simulate.placement import Places


def places(at: Situation) -> Places:
    """The node and the leaf of each rank."""
    machines = tree.build(at.shape())
    nodes = jobs.ordered(machines, tree.choose_nodes(machines, at.with_ranks()), at.placement)
    ranks = [nodes[rank // at.ppn] for rank in range(at.ranks)]
    leaves = [machines.named(node).parent for node in ranks]
    levels = (("node", ranks), ("leaf", leaves))
    return [(level, [names.index(name) for name in names]) for level, names in levels]


@cache
def _cost(at: Situation, collective: str, recipe: str) -> tuple[float, float] | None:
    try:
        found: tuple[float, float] | None = core().cost(
            collective, recipe, places(at), costs.text(at.shape())
        )
    except RuntimeError:  # records outlive recipes
        return None
    return found


# With equal blocks, which are what is measured, it sends what this does.
_LIKE = {"alltoallv": "alltoall"}


def predicted_us(cell: Cell, recipe: str) -> float | None:
    """None where the recipe does not fit, or has too many ranks."""
    collective = _LIKE.get(cell.group.collective, cell.group.collective)
    found = _cost(cell.group.situation, collective, recipe)
    return found[0] + found[1] * cell.bytes if found else None
