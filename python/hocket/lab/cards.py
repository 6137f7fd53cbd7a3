"""The service on each card of a lab, which workers of its node's jobs are started by.

A card is a computer in a node that the node's link belongs to, as a BlueField is. The node sees it on a link
of their own, which stands in for PCIe and is the same in every node.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from hocket import _paths
from hocket.errors import CommandError
from hocket.lab import machine
from hocket.lab.tree import CARD_ADDRESS, CARD_DEVICE, NODE_DEVICE, Machine

KEY = machine.FOLDER / "key"  # on the lab's own file system, which goes with it
PORT = 18515

_seconds = 20.0
_namespaces = ("-m", "-u", "-i", "-n", "-p")
_listening = f"hocketd: listening on {CARD_ADDRESS}:{PORT}\n"


class CardError(Exception):
    """A card's service does not come up."""


def program() -> Path:
    """What cards run, outside of labs."""
    worker = _paths.worker()
    if not worker.exists():
        raise CommandError(f"{worker} is missing, which cards run; 'make build' puts it there", 1)
    return worker.resolve()


def environment() -> dict[str, str]:
    """For jobs: where the card of each node is, and that MPIs leave the link to it alone.

    UCX and libfabric would take any device; Open MPI's own TCP is told the network in launchers.py.
    """
    return {
        "HOCKET_WORKER_HOST": f"{CARD_ADDRESS}:{PORT}",
        "HOCKET_WORKER_KEY": str(KEY),
        "UCX_NET_DEVICES": NODE_DEVICE,
        "FI_TCP_IFACE": NODE_DEVICE,
    }


def _write_key() -> None:
    with os.fdopen(os.open(KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))


def _inside(path: Path) -> Path:
    """Where machines of a lab find what is there outside: they have a /tmp of their own."""
    return machine.HOST_TMP / path.relative_to(machine.TMP) if path.is_relative_to(machine.TMP) else path


def _log(card: str) -> Path:
    return machine.FOLDER / f"hocketd.{card}"


def _started(card: str, pid: int, program: Path, members: Sequence[Path]) -> subprocess.Popen[bytes]:
    """Behind nsenter, which waits for it."""
    command = ["nsenter", "-t", str(pid), *_namespaces, "--", str(_inside(program))]
    with _log(card).open("wb") as log:
        return subprocess.Popen(
            [*command, "--listen", f"{CARD_ADDRESS}:{PORT}", "--key", str(KEY)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "UCX_NET_DEVICES": CARD_DEVICE},
            preexec_fn=partial(machine.join, members),
        )


def _wait(card: str, service: subprocess.Popen[bytes], deadline: float) -> None:
    """Until it listens. Throws CardError with what it has said instead."""
    while True:
        status = service.poll()
        said = _log(card).read_text(errors="replace")
        if _listening in said and status is None:
            return
        if status is not None:
            raise CardError(f"the service of {card} ended with status {status}: {said.strip()}")
        if time.monotonic() > deadline:
            raise CardError(f"the service of {card} does not listen after {_seconds:g} s: {said.strip()}")
        time.sleep(0.005)


def start(
    cards: Iterable[Machine], pids: Mapping[str, int], program: Path, members: Mapping[str, Sequence[Path]]
) -> None:
    """On all of them, by the lab's supervisor. `members`: control group files (control_groups.py)."""
    _write_key()
    names = [card.name for card in cards]
    services = {name: _started(name, pids[name], program, members[name]) for name in names}
    deadline = time.monotonic() + _seconds
    for name, service in services.items():
        _wait(name, service, deadline)
