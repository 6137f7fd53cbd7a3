"""Starts an MPI program and keeps what it said: for tests that judge output, exit status and duration.

Every launch goes through dev/run_limited.py: it is ended when it takes too long, and fails when it leaves a
process behind.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "dev"))

from mpi_launch import how_to_get, launch_command, launch_environment  # noqa: E402
from run_limited import EXIT_LEFT_BEHIND, EXIT_TIMEOUT  # noqa: E402

EXIT_SKIPPED = 77
RANK_OF_JOB = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


@dataclass
class Ended:
    status: int
    output: str
    seconds: float

    @property
    def hung(self) -> bool:
        return self.status == EXIT_TIMEOUT

    @property
    def left_behind(self) -> bool:
        return self.status == EXIT_LEFT_BEHIND


@dataclass
class Mpi:
    """One MPI, and the hocket-exec to put in front of its programs."""

    family: str
    prefix: Path
    hocket_exec: Path

    @property
    def is_open_mpi(self) -> bool:
        return "openmpi" in self.family

    def launch(
        self,
        command: Sequence[str],
        ranks: int,
        *,
        hocket: bool = True,
        seconds: float = 60,
        environment: Mapping[str, str] | None = None,
        launcher_options: Sequence[str] = (),
        wrapper: str = "",
    ) -> Ended:
        """`wrapper` is a piece of shell that every rank runs first; "$@" is then the program."""
        start = launch_command(self.family, self.prefix, ranks)
        if start is None:
            print(f"SKIPPED: no {self.family} here ({how_to_get(self.family)})")
            sys.exit(EXIT_SKIPPED)
        program = [str(self.hocket_exec), *command] if hocket else list(command)
        if wrapper:
            program = ["sh", "-c", f'rank={RANK_OF_JOB}; {wrapper}; exec "$@"', "sh", *program]
        limited = [sys.executable, str(ROOT / "dev" / "run_limited.py"), "--seconds", str(seconds), "--"]
        all_variables = {**launch_environment(self.family, self.prefix), **(environment or {})}
        began = time.monotonic()
        ended = subprocess.run(
            [*limited, start[0], *launcher_options, *start[1:], *program],
            env=all_variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, time.monotonic() - began)


def calls_of(ended: Ended, collective: str) -> dict[str, int]:
    """algorithm -> calls, from the report, in all forms of the collective"""
    rows = re.findall(
        rf"(?m)^i?{collective}(?:_init)? .*?(?:-|\+) +(\d+) +\S+(?: us| ms| s)? +\S+(?: us| ms| s)? +(\S+)  ",
        ended.output,
    )
    return {algorithm: sum(int(n) for n, name in rows if name == algorithm) for _, algorithm in rows}


def caught(ended: Ended, collective: str) -> int:
    return sum(calls for algorithm, calls in calls_of(ended, collective).items() if algorithm != "native")


def arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--family", required=True)
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--hocket-exec", type=Path, required=True)
    return parser


def mpi_of(parsed: argparse.Namespace) -> Mpi:
    return Mpi(parsed.family, parsed.prefix, parsed.hocket_exec)


def is_root() -> bool:
    return os.geteuid() == 0
