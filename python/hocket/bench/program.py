"""Where the compiled benchmark program of an ABI family is."""

from __future__ import annotations

from pathlib import Path

from hocket import _paths
from hocket.errors import CommandError


def bench_program(family: str) -> Path:
    path = _paths.prefix() / "lib" / "hocket" / "bench" / f"hocket_bench_{family}"
    if not path.exists():
        raise CommandError(
            f"the benchmark program is not installed at {path}; 'make build' or 'pip install .' builds it", 1
        )
    return path
