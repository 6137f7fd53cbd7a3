"""Makes a lab's links: every switch makes those below it, then every machine sets up its own end."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from hocket.lab import batches, delay, kernel
from hocket.lab.tree import Tree

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


def _run_all(program: str, pids: Mapping[str, int], texts: Iterable[tuple[str, str]]) -> None:
    """`texts`: machine, and what the program is told there."""
    running = [_started(program, text, pids[name]) for name, text in texts if text]
    answers = [(each.communicate(timeout=_seconds)[1], each.returncode) for each in running]
    for said, status in answers:
        if status:
            raise LinkError(f"{program} refused: {said.strip()}")


def make(tree: Tree, pids: Mapping[str, int], latency_us: int) -> None:
    size = batches.packets(latency_us)
    _run_all("ip", pids, _upper_ends(tree, pids, size))
    _run_all("ip", pids, _lower_ends(tree))
    _run_all("tc", pids, _shaping(tree, size))
    if latency_us:
        for machine in tree.linked():
            if machine.is_delayed:
                delay.apply(machine, pids, latency_us)


def _upper_ends(tree: Tree, pids: Mapping[str, int], size: batches.Packets) -> Iterator[tuple[str, str]]:
    for switch in tree.switches():
        yield switch.name, batches.switch_links(tree, switch, pids, size)
    for node in tree.nodes():
        if card := tree.card_of(node.name):
            yield card.name, batches.card_links(node, card, pids, size)


def _lower_ends(tree: Tree) -> Iterator[tuple[str, str]]:
    for machine in tree.linked():
        card = tree.card_of(machine.name)
        yield machine.name, batches.own_end(machine) + (batches.card_end() if card else "")
        if card:
            yield card.name, batches.own_end(card)


def _shaping(tree: Tree, size: batches.Packets) -> Iterator[tuple[str, str]]:
    """Of links at both ends: of those below a switch in it, of each machine's own where its lower end is."""
    for machine in tree.machines:
        end = tree.lower_end(machine)
        below = batches.switch_shaping(tree, machine, size) if machine.kind == "switch" else ""
        yield end.name, below + (batches.own_shaping(end, size) if machine.parent else "")
