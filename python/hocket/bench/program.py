"""Where the compiled benchmark programs of an ABI family are."""

from __future__ import annotations

from pathlib import Path

from hocket import _paths
from hocket.errors import CommandError


def _program(name: str) -> Path:
    path = _paths.prefix() / "lib" / "hocket" / "bench" / name
    if not path.exists():
        raise CommandError(
            f"the benchmark program is not installed at {path}; 'make build' or 'pip install .' builds it", 1
        )
    return path


def bench_program(family: str) -> Path:
    return _program(f"hocket_bench_{family}")


def costs_program(family: str) -> Path:
    return _program(f"hocket_costs_{family}")


def nonblocking_program(family: str) -> Path:
    return _program(f"hocket_nonblocking_{family}")


def handover_program(family: str) -> Path:
    return _program(f"hocket_handover_{family}")


def loggp_program(family: str) -> Path:
    return _program(f"hocket_loggp_{family}")


def latencies_program(family: str) -> Path:
    return _program(f"hocket_latencies_{family}")


def registration_program() -> Path:
    return _program("hocket_registration")
