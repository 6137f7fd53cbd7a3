"""The process that is a lab: process 1 of the outer PID namespace, and the head node. With it all goes.

    python -m hocket.lab.supervisor      reads what is wanted (JSON, one line) and answers in JSON

It ends when its standard input does, so that a lab of one command cannot outlive it, unless told to stay.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from hocket.lab import (
    aggregation,
    batches,
    cards,
    control_groups,
    delay,
    keeper,
    kernel,
    links,
    machine,
    services,
    shape,
    tree,
)
from hocket.lab.control_places import GroupError

STAY = "stay\n"
_Members = Mapping[str, Sequence[Path]]  # machine -> files (Groups.members)
_problems = (OSError, links.LinkError, delay.DelayError, services.ServiceError, subprocess.SubprocessError)
_outer = (kernel.PID, kernel.MOUNT, kernel.NET, kernel.UTS, kernel.IPC)
_of_terminals = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGWINCH}
_harmless = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, *_of_terminals}


@dataclass(frozen=True)
class _Wanted:
    """What is read, and the control groups that were made for it."""

    shape: shape.Shape
    programs: Mapping[str, Path]  # kind of machine -> its service, outside of labs
    groups: control_groups.Groups | None = None  # of cards, as the machine sees them


def _answer(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


def _map_root(user: int, group: int) -> None:
    """Root inside, the same user outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def _leave_the_machine() -> None:
    """One by one, so that the answer names the one that is refused."""
    for each in _outer:
        kernel.unshare(each)


def _with_user_namespace() -> None:
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.USER)
    _map_root(user, group)
    _leave_the_machine()


def _separate() -> bool:
    """Into namespaces of its own; true if that took a user namespace."""
    try:
        _leave_the_machine()
        return False
    except OSError as problem:
        if problem.errno != errno.EPERM:
            raise
    _with_user_namespace()
    return True


def _hosts(plan: tree.Tree, each: tree.Machine) -> Path:
    above = plan.aggregating_above(each)
    return machine.FOLDER / (f"hosts.{above.name}" if above else "hosts")


def _write_hosts(plan: tree.Tree) -> None:
    """One for all but those below a switch with an address, which they know by another name as well."""
    (machine.FOLDER / "hosts").write_text(batches.hosts(plan))
    for switch in plan.aggregating():
        (machine.FOLDER / f"hosts.{switch.name}").write_text(batches.hosts(plan, switch))


def _be_the_head(plan: tree.Tree, groups: control_groups.Groups | None) -> _Members:
    """The control groups of the lab's machines, as these see them."""
    kernel.keep_mounts_private()
    kernel.mount("proc", Path("/proc"))
    machine.own_memory_folders({machine.HOST_TMP: machine.TMP})
    machine.FOLDER.mkdir()
    seen = control_groups.bind(groups) if groups else None
    kernel.mount("sysfs", Path("/sys"))
    _write_hosts(plan)
    machine.quiet_network()
    machine.be_named(tree.HEAD, _hosts(plan, plan.named(tree.HEAD)))
    return {card.name: seen.members(card.name) for card in plan.cards} if seen else {}


def _read_pids(answers: int) -> dict[str, int]:
    """One line of each machine, until all have closed the pipe."""
    pids = {}
    with os.fdopen(answers) as lines:
        for line in lines:
            name, _, text = line.strip().partition(" ")
            if text.startswith("!"):
                raise OSError(f"{name}: {text[2:]}")
            pids[name] = int(text)
    return pids


def _holder(plan: tree.Tree, each: tree.Machine, members: _Members) -> machine.Holder:
    groups = tuple(members.get(each.name, ()))
    return machine.Holder(each.name, each.kind == "switch", _hosts(plan, each), groups)


def _start_machines(plan: tree.Tree, members: _Members) -> dict[str, int]:
    answers, answering = os.pipe()
    held = [each for each in (*plan.machines, *plan.cards) if each.name != tree.HEAD]
    for each in held:
        machine.start(_holder(plan, each, members), answering)
    os.close(answering)
    pids = _read_pids(answers)
    if missing := [each.name for each in held if each.name not in pids]:
        raise OSError(f"{', '.join(missing)} did not come up")
    return {**pids, tree.HEAD: os.getpid()}


def _write_remote_shell(plan: tree.Tree, pids: dict[str, int], members: _Members) -> None:
    script = machine.FOLDER / "rsh"
    script.write_text(batches.remote_shell(pids, plan, members))
    script.chmod(0o755)


def _start_services(wanted: _Wanted, plan: tree.Tree, pids: dict[str, int], members: _Members) -> None:
    if wanted.programs:
        services.write_key()
    if plan.cards:
        cards.start(plan.cards, pids, wanted.programs["card"], members)
    if wanted.shape.aggregates:
        aggregation.start(plan, pids, wanted.programs["switch"])


def _create(wanted: _Wanted) -> dict[str, int]:
    plan = tree.build(wanted.shape)
    members = _be_the_head(plan, wanted.groups)
    pids = _start_machines(plan, members)
    links.make(plan, pids, wanted.shape.latency_us)
    _write_remote_shell(plan, pids, members)
    _start_services(wanted, plan, pids, members)
    return pids


def _leave(number: int, _frame: object) -> NoReturn:
    os._exit(128 + number)


def _end_on_signals() -> None:
    """Process 1 is spared by every signal that it does not ask for."""
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            if number not in _harmless:
                signal.signal(number, _leave)


def _keep() -> NoReturn:
    """Until standard input ends; for ever once it has said so."""
    machine.let_go_of_terminal(1, 2)
    if sys.stdin.readline() != STAY:
        os._exit(0)
    machine.let_go_of_terminal(0)
    machine.rest()


def _supervise(wanted: _Wanted) -> NoReturn:
    kernel.set_process_name("hocket lab")
    _end_on_signals()
    try:
        pids = _create(wanted)
    except _problems as problem:
        _answer(problem=str(problem))
        os._exit(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _answer(pids=pids, groups=wanted.groups and wanted.groups.as_json())
    _keep()


def _read() -> _Wanted:
    fields = json.loads(sys.stdin.readline())
    programs = {kind: Path(program) for kind, program in fields["programs"].items()}
    return _Wanted(shape.from_json(fields["shape"]), programs)


def _with_groups(wanted: _Wanted) -> _Wanted:
    """With control groups for its cards, and a process that removes them once the lab has ended."""
    names = [card.name for card in tree.build(wanted.shape).cards]
    if not names:
        return wanted
    try:
        groups = control_groups.create(names, wanted.shape.card_cores)
    except GroupError as problem:
        _answer(problem=str(problem))
        sys.exit(1)
    keeper.stay_behind(groups)
    return replace(wanted, groups=groups)


def main() -> None:
    os.setsid()
    wanted = _with_groups(_read())
    try:
        has_users = _separate()
    except OSError as problem:
        _answer(refused=str(problem))
        sys.exit(1)
    child = os.fork()
    if child == 0:
        _supervise(wanted)
    _answer(supervisor=child, own_users=has_users)
    os._exit(0)


if __name__ == "__main__":
    main()
