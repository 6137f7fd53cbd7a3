"""What share of an operation hides behind computation, in percent. Nothing is cut off at 0 or 100: a negative
share is a loss, and more than 100 says that the parts were not measured under the same conditions."""

from __future__ import annotations


def imb(pure: float, cpu: float, overall: float) -> float:
    """IMB-NBC's: `pure` the operation alone, `cpu` the computation alone, `overall` both together."""
    return 100 * (pure + cpu - overall) / min(pure, cpu)


def osu(overall: float, compute: float, test: float, pure: float) -> float:
    """The OSU benchmarks': `compute` the time of the loop, of which `test` was spent in tests."""
    return 100 - 100 * (overall - (compute - test)) / pure


def stolen(compute: float, alone: float) -> float:
    """By how much a fixed amount of work takes longer while an operation is under way: helpers that move data
    on the application's core, or use up the memory's bandwidth."""
    return 100 * (compute / alone - 1)


def overhead(pure: float, blocking: float) -> float:
    """Of start and wait over the blocking call."""
    return 100 * (pure / blocking - 1)
