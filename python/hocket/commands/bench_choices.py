"""What the options of `hocket bench` choose: MPIs, collectives, sizes, ranks."""

from __future__ import annotations

from collections.abc import Sequence

from hocket import mpis
from hocket.bench.records import COLLECTIVES
from hocket.console import console
from hocket.errors import CommandError, unknown
from hocket.quantities import parse_ranks, parse_sizes

TYPES = ("float", "double", "int")
_default_mpis = ("openmpi", "mpich", "intel", "debian")


def _named_mpis(names: Sequence[str]) -> list[mpis.Mpi]:
    """Those of the names that are installed; the others are told, each with the way to get it."""
    found = []
    for name in names:
        try:
            found.append(mpis.find(name))
        except mpis.NotInstalledError as absent:
            console.print(f"[yellow]left out: {absent}[/]")
    return found


def chosen_mpis(text: str) -> list[mpis.Mpi]:
    every = mpis.discover()
    found = _named_mpis(text.split(",")) if text else [mpi for mpi in every if mpi.name in _default_mpis]
    if not found:
        wanted = text.split(",")[0] if text else "openmpi"
        raise CommandError(f"none of these MPIs is installed; to get one: {mpis.how_to_get(wanted)}", 1)
    return found


def chosen_collectives(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in COLLECTIVES:
            raise unknown("collective", name, COLLECTIVES)
    return list(names) or list(COLLECTIVES)


def chosen_sizes(text: str, factor: int) -> list[int]:
    sizes = parse_sizes(text, factor)
    odd = [size for size in sizes if size == 0 or size % 8]
    if odd:
        raise CommandError(f"sizes must be multiples of 8 bytes, {odd[0]} is not")
    return sizes


def chosen_type(name: str) -> str:
    if name not in TYPES:
        raise unknown("type", name, TYPES)
    return name


def rank_counts(text: str, root: int = 0) -> list[int]:
    counts = parse_ranks(text)
    if root >= counts[0]:
        raise CommandError(f"there is no root {root} among {counts[0]} ranks")
    return counts
