"""HPCC (HPC Challenge) as Debian packages it: where it is, and its input, made from the example beside it."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
OUTPUT = "hpccoutf.txt"


def find_hpcc() -> str | None:
    return shutil.which("hpcc") if EXAMPLE.exists() else None


def grid(ranks: int) -> tuple[int, int]:
    """The squarest P x Q process grid, P <= Q."""
    rows = max(divisor for divisor in range(1, math.isqrt(ranks) + 1) if ranks % divisor == 0)
    return rows, ranks // rows


def write_input(folder: Path, size: int, ranks: int) -> None:
    """For matrices of `size` rows."""
    rows, columns = grid(ranks)
    text = EXAMPLE.read_text()
    for name, value in (("Ns", size), ("Ps", rows), ("Qs", columns)):
        text = re.sub(rf"(?m)^\d+( +{name}\s*)$", rf"{value}\1", text)
    (folder / "hpccinf.txt").write_text(text)
    (folder / OUTPUT).unlink(missing_ok=True)  # hpcc appends
