"""The answer of a probe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """`info` is neither good nor bad; only `bad` makes the exit status 1."""

    good = "ok"
    info = "info"
    weak = "limited"
    bad = "missing"


@dataclass(frozen=True)
class Finding:
    subject: str
    verdict: Verdict
    found: str
    mend: str = ""
