"""Services of a lab: programs that run on its machines from the start, and say when they are ready."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hocket.errors import CommandError
from hocket.lab import machine
from hocket.lab.tree import Machine

KEY = machine.FOLDER / "key"  # of all services; on the lab's own file system, which goes with it

_seconds = 20.0
_of_switches = ("-m", "-u", "-n")  # the others are the head's
_of_computers = (*_of_switches, "-i", "-p")


class ServiceError(Exception):
    """A service does not come up."""


@dataclass(frozen=True)
class Service:
    """`name`: what its log is called after; `program`: where it is outside of labs."""

    name: str
    where: Machine
    program: Path
    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Started:
    machine: str
    process: subprocess.Popen[bytes]
    log: Path

    def wait_for(self, words: str, deadline: float) -> None:
        """Until it has said so. Throws ServiceError with what it has said instead."""
        while True:
            status = self.process.poll()
            said = self.log.read_text(errors="replace")
            if status is not None:
                raise ServiceError(
                    f"the service of {self.machine} ended with status {status}: {said.strip()}"
                )
            if words in said:
                return
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"the service of {self.machine} does not say '{words}', but: {said.strip() or 'nothing'}"
                )
            time.sleep(0.005)


def deadline() -> float:
    """For services that are started from here on."""
    return time.monotonic() + _seconds


def installed(program: Path, who: str) -> Path:
    """What `who` run, outside of labs."""
    if not program.exists():
        raise CommandError(f"{program} is missing, which {who} run; 'make build' puts it there", 1)
    return program.resolve()


def write_key() -> None:
    with os.fdopen(os.open(KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))


def _inside(path: Path) -> Path:
    """Where machines of a lab find what is there outside: they have a /tmp of their own."""
    return machine.HOST_TMP / path.relative_to(machine.TMP) if path.is_relative_to(machine.TMP) else path


def _namespaces(where: Machine) -> tuple[str, ...]:
    return _of_switches if where.kind == "switch" else _of_computers


def start(service: Service, pid: int, members: Sequence[Path] = ()) -> Started:
    """By the lab's supervisor. `members`: control group files (control_groups.py).

    On what has processes of its own nsenter stays in front, and waits for it.
    """
    enter = ["nsenter", "-t", str(pid), *_namespaces(service.where), "--"]
    path = machine.FOLDER / f"{service.name}.{service.where.name}"
    with path.open("wb") as log:
        process = subprocess.Popen(
            [*enter, str(_inside(service.program)), *service.arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **service.variables},
            preexec_fn=partial(machine.join, members) if members else None,
        )
    return Started(service.where.name, process, path)
