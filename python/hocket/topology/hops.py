"""How many switches are between nodes: by the cables of a fabric, else up and down the machine's tree."""

from __future__ import annotations

from hocket.core import core
from hocket.errors import CommandError
from hocket.topology import tree
from hocket.topology.tree import Opened, Vertex


def _cables(source: Opened | None) -> bytes | None:
    return source.text if source and source.format == "ibnetdiscover" else None


def count(machine: Vertex, source: Opened | None) -> dict[int, int]:
    """Pairs of nodes by the switches between them; 0 for those that no cables connect."""
    cables = _cables(source)
    with tree.told():
        found: dict[int, int] = (
            core().count_hops(tree.to_vertices(machine))
            if cables is None
            else core().count_hops_in_fabric(cables)
        )
    return found


def between(machine: Vertex, source: Opened | None, a: str, b: str) -> int:
    numbers = []
    for host, number in zip((a, b), tree.numbers_of(machine, [a, b]), strict=True):
        if number is None:
            raise CommandError(f"'{host}' is not in this machine")
        numbers.append(number)
    cables = _cables(source)
    with tree.told():
        found: int = (
            core().hops(tree.to_vertices(machine), *numbers)
            if cables is None
            else core().hops_in_fabric(cables, *numbers)
        )
    return found


def _shown(switches: int, pairs: int) -> str:
    return f"{switches or 'no way'} ({pairs} pair{'s' if pairs > 1 else ''})"


def summary(machine: Vertex, source: Opened | None) -> str:
    """Empty where there are no two nodes."""
    counts = sorted(count(machine, source).items())
    return "switches between two nodes: " + ", ".join(_shown(*each) for each in counts) if counts else ""


def answer(machine: Vertex, source: Opened | None, a: str, b: str) -> str:
    switches = between(machine, source, a, b)
    if a != b and switches == 0:
        return f"{a} to {b}: no way"
    return f"{a} to {b}: {switches} switch{'' if switches == 1 else 'es'}"
