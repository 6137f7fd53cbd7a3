"""Switches of a lab that aggregate: each runs a hocket-switch, whose parent is that of the next one above.

Jobs find the first one above them by a name, since ranks on all nodes have the same environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hocket import _paths
from hocket.lab import services
from hocket.lab.tree import SWITCH_ABOVE, Machine, Tree

PORT = 18516
STATISTICS_PORT = 18517  # of the page that each has


def program() -> Path:
    """What switches run, outside of labs."""
    return services.installed(_paths.switch(), "switches that aggregate")


def environment() -> dict[str, str]:
    """For jobs: where the first switch above each node that aggregates is, for libsharp_coll.so."""
    return {"HOCKET_SWITCH": f"{SWITCH_ABOVE}:{PORT}", "HOCKET_SWITCH_KEY": str(services.KEY)}


def _place(switch: Machine) -> str:
    return f"{switch.address}:{PORT}"


def _listening(switch: Machine) -> str:
    return f"hocket-switch: listening on {_place(switch)}"


def _connected(above: Machine) -> str:
    return f"the switch above at {_place(above)} is reached"


def _arguments(switch: Machine, above: Machine | None) -> tuple[str, ...]:
    """Verbose, because nothing else tells that the parent is reached."""
    own = ("--listen", _place(switch), "--stats", f"{switch.address}:{STATISTICS_PORT}")
    parent = ("--parent", _place(above)) if above else ()
    return (*own, *parent, "--key", str(services.KEY), "--verbose")


def start(plan: Tree, pids: Mapping[str, int], program: Path) -> None:
    """On all of them, by the lab's supervisor, until each listens and is connected to its parent.

    None before its parent listens: who finds nobody there waits a while before it tries again.
    """
    started: dict[str, services.Started] = {}
    deadline = services.deadline()
    for switch in plan.aggregating():
        above = plan.aggregating_above(switch)
        if above:
            started[above.name].wait_for(_listening(above), deadline)
        service = services.Service("hocket-switch", switch, program, _arguments(switch, above))
        started[switch.name] = services.start(service, pids[switch.name])
    for switch in plan.aggregating():
        above = plan.aggregating_above(switch)
        started[switch.name].wait_for(_connected(above) if above else _listening(switch), deadline)
