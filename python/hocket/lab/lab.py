"""A lab that is up, as the commands outside see it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from hocket.errors import CommandError
from hocket.lab import aggregation, cards, control_groups, keeper, kernel, machine, shape, supervisor, tree
from hocket.lab.process import Process, running
from hocket.lab.tree import Machine

EXIT_NO_NAMESPACES = 3
_kill_seconds = 20.0
_source = Path(__file__).resolve().parents[2]
_needed = ("ip", "tc", "nsenter")


@dataclass(frozen=True)
class Lab:
    name: str
    supervisor: Process
    own_users: bool  # made by an ordinary user: there is a user namespace to enter first
    shape: shape.Shape
    pids: dict[str, int]  # of the machines, as the head node numbers them
    has_slurm: bool = False
    dead: tuple[str, ...] = ()  # nodes that were killed, and their cards: their process ids mean nothing
    cut: tuple[str, ...] = ()  # links, by the machine at their lower end
    groups: control_groups.Groups | None = None  # of its cards

    @cached_property
    def tree(self) -> tree.Tree:
        return tree.build(self.shape)

    def on_head(self, *command: str) -> list[str]:
        """The command line that runs a command on the head node, in the present folder if that is visible."""
        who = (str(self.supervisor.pid), str(self.supervisor.start), str(int(self.own_users)))
        script = str(Path(__file__).with_name("enter.py"))
        return [sys.executable, script, *who, str(Path.cwd()), *command]

    def answer(self, *command: str, text: str | None = None) -> str:
        """What a command on the head node prints."""
        done = subprocess.run(
            self.on_head(*command), input=text, capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode:
            raise CommandError(f"'{command[0]}' in the lab failed: {done.stderr.strip()}", 1)
        return done.stdout

    def is_up(self) -> bool:
        return self.supervisor.is_alive()

    def end(self) -> None:
        if not self.supervisor.kill(_kill_seconds):
            raise CommandError(f"process {self.supervisor.pid} of lab '{self.name}' did not end", 1)
        if self.groups and not control_groups.remove(self.groups, keeper.REMOVE_SECONDS):
            raise CommandError(f"control groups of lab '{self.name}' did not end: {self.groups.folders}", 1)

    def faults(self) -> dict[str, str]:
        """What is wrong: machine -> "dead", or "cut" for its link to the switch above."""
        return {**dict.fromkeys(self.cut, "cut"), **dict.fromkeys(self.dead, "dead")}

    def living(self) -> list[Machine]:
        return [node for node in self.tree.nodes() if node.name not in self.dead]

    def living_cards(self) -> list[Machine]:
        return [card for card in self.tree.cards if card.name not in self.dead]

    def card_seconds(self) -> dict[str, float]:
        """Node -> processor time that processes of its card have used since the lab was made."""
        nodes = [(node.name, self.tree.card_of(node.name)) for node in self.tree.nodes()]
        return {name: self.groups.seconds(card.name) for name, card in nodes if card and self.groups}

    def card_groups(self) -> Path:
        """The folder of the control groups that count, as its machines see it; one for each card."""
        if not self.groups:
            raise CommandError(f"lab '{self.name}' was made without --dpu")
        return Path(control_groups.seen(self.groups).folders[-1])

    def check_alive(self, names: Iterable[str]) -> None:
        if dead := [name for name in names if name in self.dead]:
            raise CommandError(f"{', '.join(dead)} of lab '{self.name}' is dead ('hocket lab kill')", 1)

    @property
    def remote_shell(self) -> str:
        return str(machine.FOLDER / "rsh")

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pid": self.supervisor.pid,
            "start": self.supervisor.start,
            "own_users": self.own_users,
            "shape": self.shape.as_json(),
            "pids": self.pids,
            "has_slurm": self.has_slurm,
            "dead": list(self.dead),
            "cut": list(self.cut),
            "groups": self.groups and self.groups.as_json(),
        }


def _groups(fields: dict[str, Any] | None) -> control_groups.Groups | None:
    return control_groups.from_json(fields) if fields else None


def from_json(fields: dict[str, Any]) -> Lab:
    return Lab(
        fields["name"],
        Process(fields["pid"], fields["start"]),
        fields["own_users"],
        shape.from_json(fields["shape"]),
        fields["pids"],
        fields["has_slurm"],
        tuple(fields["dead"]),
        tuple(fields["cut"]),
        _groups(fields.get("groups")),
    )


@dataclass(frozen=True)
class Started:
    """A lab that ends with this process, or sooner, unless it is told to stay."""

    lab: Lab
    lifeline: IO[str]

    def stay(self) -> None:
        self.lifeline.write(supervisor.STAY)
        self.lifeline.close()


def _missing_programs(path: str) -> list[str]:
    return [name for name in _needed if not shutil.which(name, path=path)]


def _programs(wanted: shape.Shape) -> dict[str, str]:
    """Kind of machine -> what the service on those is."""
    of_cards = {"card": str(cards.program())} if wanted.card_cores else {}
    return {**of_cards, **({"switch": str(aggregation.program())} if wanted.aggregates else {})}


def _wanted(wanted: shape.Shape) -> dict[str, Any]:
    return {"shape": wanted.as_json(), "programs": _programs(wanted)}


def _started(wanted: dict[str, Any]) -> subprocess.Popen[str]:
    """The supervisor, or who starts it and stays behind."""
    python_path = os.pathsep.join(filter(None, (str(_source), os.environ.get("PYTHONPATH"))))
    started = subprocess.Popen(
        [sys.executable, "-m", "hocket.lab.supervisor"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": python_path, "PATH": kernel.search_path()},
    )
    assert started.stdin
    started.stdin.write(json.dumps(wanted) + "\n")
    started.stdin.flush()
    return started


def _answers(started: subprocess.Popen[str]) -> dict[str, Any]:
    """Without "pids" the lab did not come up, and all of it is gone."""
    assert started.stdout
    fields: dict[str, Any] = {}
    with started.stdout as lines:
        for line in lines:
            fields.update(json.loads(line))
    if "pids" not in fields:
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(_kill_seconds)
    return fields


def _check(fields: dict[str, Any]) -> None:
    if why := fields.get("refused"):
        raise CommandError(
            f"this machine does not allow the namespaces that a lab is made of ({why}). Needed is root, or "
            "user namespaces for ordinary users: sysctl user.max_user_namespaces, "
            "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns; "
            "containers need --privileged",
            EXIT_NO_NAMESPACES,
        )
    if "pids" not in fields:
        raise CommandError(f"the lab did not come up: {fields.get('problem', 'its supervisor ended')}", 1)


def start(name: str, wanted: shape.Shape) -> Started:
    """Makes a lab, with the services of its cards and switches where there are any."""
    if missing := _missing_programs(kernel.search_path()):
        raise CommandError(f"{', '.join(missing)} not found; to get it: apt-get install iproute2 util-linux")
    started = _started(_wanted(wanted))
    assert started.stdin
    fields = _answers(started)
    _check(fields)
    process = running(fields["supervisor"])
    if process is None:
        raise CommandError("the lab ended while it came up", 1)
    groups = _groups(fields["groups"])
    made = Lab(name, process, fields["own_users"], wanted, fields["pids"], groups=groups)
    return Started(made, started.stdin)


@contextlib.contextmanager
def temporary(make: Callable[[], Started]) -> Iterator[Lab]:
    """For one job: it ends with that, and so does all that the job left behind."""
    kernel.adopt_orphans()
    started = make()
    try:
        yield started.lab
    finally:
        started.lab.end()
