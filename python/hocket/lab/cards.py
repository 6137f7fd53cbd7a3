"""The service on each card of a lab, which workers of its node's jobs are started by.

A card is a computer in a node that the node's link belongs to, as a BlueField is. The node sees it on a link
of their own, which stands in for PCIe and is the same in every node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hocket import _paths
from hocket.lab import services
from hocket.lab.tree import CARD_ADDRESS, CARD_DEVICE, NODE_DEVICE, Machine

PORT = 18515

_place = f"{CARD_ADDRESS}:{PORT}"
_listening = f"hocketd: listening on {_place}"


def program() -> Path:
    """What cards run, outside of labs."""
    return services.installed(_paths.worker(), "cards")


def environment() -> dict[str, str]:
    """For jobs: where the card of each node is, and that MPIs leave the link to it alone.

    UCX and libfabric would take any device; Open MPI's own TCP is told the network in launchers.py.
    """
    return {
        "HOCKET_WORKER_HOST": _place,
        "HOCKET_WORKER_KEY": str(services.KEY),
        "UCX_NET_DEVICES": NODE_DEVICE,
        "FI_TCP_IFACE": NODE_DEVICE,
    }


def _service(card: Machine, program: Path) -> services.Service:
    arguments = ("--listen", _place, "--key", str(services.KEY))
    return services.Service("hocketd", card, program, arguments, {"UCX_NET_DEVICES": CARD_DEVICE})


def start(
    cards: Iterable[Machine], pids: Mapping[str, int], program: Path, members: Mapping[str, Sequence[Path]]
) -> None:
    """On all of them, by the lab's supervisor. `members`: control group files (control_groups.py)."""
    started = [services.start(_service(card, program), pids[card.name], members[card.name]) for card in cards]
    deadline = services.deadline()
    for each in started:
        each.wait_for(_listening, deadline)
