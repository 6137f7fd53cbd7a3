"""What a schedule would take on LogGP parameters, and how much of it is CPU time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hocket.catalog import Request
from hocket.core import core
from hocket.errors import CommandError
from hocket.loggp.parameters import Parameters


@dataclass(frozen=True)
class Prediction:
    """In nanoseconds; or why there is none."""

    total: float = 0.0  # until the last rank ends
    cpu: float = 0.0  # of that rank
    mean_cpu: float = 0.0  # of all ranks
    refusal: str = ""

    def split(self) -> str:
        total, cpu, mean = (format_time(time) for time in (self.total, self.cpu, self.mean_cpu))
        waiting = format_time(self.total - self.cpu)
        return (
            f"{total} until the last rank ends: CPU {cpu}, waiting for the network {waiting} "
            f"(CPU of an average rank: {mean})"
        )

    def cells(self) -> list[str]:
        """The time, and the part of it that an average CPU works."""
        if self.refusal:
            return ["-", "-"]
        return [format_time(self.total), f"{self.mean_cpu / self.total if self.total else 1.0:.0%}"]


def format_time(ns: float) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.0f} ns"


def predict(request: Request, size: int, parameters: Parameters) -> Prediction:
    """`size`: bytes of the vector, or of one block."""
    try:
        found: dict[str, Any] = core().simulate(*request, size, parameters.network())
    except RuntimeError as problem:
        return Prediction(refusal=str(problem))
    except (TypeError, ValueError, KeyError) as problem:
        raise CommandError(f"these are no LogGP parameters: {problem}") from problem
    return Prediction(found["slowest"], found["slowest_busy"], found["mean_busy"])
