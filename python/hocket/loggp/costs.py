"""LogGP parameters as HOCKET_COSTS: what selection between nodes compares by (src/tuning/costs.hpp)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hocket.errors import CommandError
from hocket.lab import quantities
from hocket.loggp.parameters import Level, Parameters

_links = ("node", "leaf", "pod")  # whose links upwards a message uses that leaves a node, its leaf, its pod


def _by_distance(found: Parameters) -> list[Level]:
    """One for each kind of boundaries: inside a node, under a leaf, between leaves, ..."""
    near = [level for level in found.levels if level.shared_memory]
    far = [level for level in found.levels if not level.shared_memory]
    if not near or not far:
        raise CommandError("costs need parameters of a node and of what is between nodes", 1)
    return [near[-1], *far]


def _us_per_kib(found: Parameters, level: Level, distance: int) -> float:
    """Of the link, where its rate is known: what one pair of ranks sees is the slowest of all on its way."""
    link = found.links.get(_links[distance - 1]) if 1 <= distance <= len(_links) else None
    if link:
        return 8e6 * 1024 / (quantities.parse_rate(str(link["rate"])) * float(link["efficiency"]))
    return level.protocols[-1].G * 1024 / 1e3


def _lines(found: Parameters) -> Iterator[str]:
    yield f"# {found.origin()}"
    yield "# level startup_us message_us us_per_KiB both_ways_us_per_KiB"
    for distance, level in enumerate(_by_distance(found)):
        name = "node" if distance == 0 else "leaf" if distance == 1 else "switches"
        small = level.protocols[0]
        per_kib = _us_per_kib(found, level, distance)
        both = per_kib * level.both_ways
        yield f"{name} {small.L / 1e3:.3f} {small.o / 1e3:.3f} {per_kib:.5f} {both:.5f}"


def text(found: Parameters) -> str:
    return "\n".join(_lines(found)) + "\n"


def write(path: Path, found: Parameters) -> None:
    try:
        path.write_text(text(found))
    except OSError as problem:
        raise CommandError(f"cannot write '{path}': {problem.strerror}", 1) from problem
