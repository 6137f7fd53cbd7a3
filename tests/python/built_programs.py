"""MPIs that a compiled program of the benchmark can be run under."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hocket import mpis
from hocket.errors import CommandError


def mpis_with(program: Callable[[str], Path]) -> list[mpis.Mpi]:
    """`program`: where it is for an ABI family; raises CommandError where it is not built."""
    found = []
    for mpi in mpis.discover():
        try:
            program(mpi.family)
        except CommandError:
            continue
        if mpi.name != "debian-mpich":
            found.append(mpi)
    return found
