"""Makes a lab's links: every switch makes those below it, then every machine sets up its own end."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from functools import partial

from hocket.lab import batches, delay, kernel
from hocket.lab.tree import Machine, Tree

_seconds = 60


class LinkError(Exception):
    """What `ip` or `tc` answered."""


def _started(program: str, text: str, pid: int) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [program, "-batch", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(kernel.enter, pid, kernel.NET),
    )
    assert started.stdin
    started.stdin.write(text)
    started.stdin.close()
    started.stdin = None  # communicate() would flush it
    return started


def _run_all(program: str, texts: Iterable[tuple[int, str]]) -> None:
    running = [_started(program, text, pid) for pid, text in texts if text]
    answers = [(each.communicate(timeout=_seconds)[1], each.returncode) for each in running]
    for said, status in answers:
        if status:
            raise LinkError(f"{program} refused: {said.strip()}")


def make(tree: Tree, pids: Mapping[str, int], latency_us: int) -> None:
    size = batches.packets(latency_us)
    switches = tree.switches()
    _run_all("ip", ((pids[each.name], batches.switch_links(tree, each, pids, size)) for each in switches))
    linked = tree.linked()
    _run_all("ip", ((pids[each.name], batches.own_end(each)) for each in linked))
    _run_all("tc", _shaping(tree, pids, size))
    if latency_us:
        for machine in linked:
            if machine.is_delayed:
                delay.apply(machine, pids, latency_us)


def _shaping(tree: Tree, pids: Mapping[str, int], size: batches.Packets) -> Iterable[tuple[int, str]]:
    def text(machine: Machine) -> str:
        below = batches.switch_shaping(tree, machine, size) if machine.kind == "switch" else ""
        return below + (batches.own_shaping(machine, size) if machine.parent else "")

    return ((pids[machine.name], text(machine)) for machine in tree.machines)
