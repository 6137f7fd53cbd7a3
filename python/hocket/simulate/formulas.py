"""Closed formulas of gather and scatter on a machine with levels.

K. Kandalla, H. Subramoni, A. Vishnu, D. K. Panda: Designing Topology-Aware Collective Communication
Algorithms for Large Scale InfiniBand Clusters: Case Studies with Scatter and Gather, CAC at IPDPS 2010.
Times are nanoseconds, sizes bytes. A binomial tree's root has C1 exchanges within its node, C2 with other
nodes of its switch, C3 with other switches; gamma, beta and delta are the parts of all N bytes that one such
exchange moves on average, so that (C1 gamma + C2 beta + C3 delta) N = (p - 1)/p N. alpha is the contention
between switches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """Of one exchange: startup in ns, and ns per byte."""

    startup: float
    per_byte: float


@dataclass(frozen=True)
class Exchanges:
    """Of the root with one level of peers: how many, and which part of all bytes each moves on average."""

    count: int
    part: float


def binomial_exchanges(ranks: int, level_of: Sequence[int], levels: int) -> tuple[Exchanges, ...]:
    """C1, C2, C3 and gamma, beta, delta of a binomial tree on rank 0: `level_of` says how near each rank is
    to rank 0, 0 being the nearest."""
    counts, blocks = [0] * levels, [0] * levels
    distance = 1
    while distance < ranks:
        counts[level_of[distance]] += 1
        blocks[level_of[distance]] += min(distance, ranks - distance)
        distance *= 2
    return tuple(
        Exchanges(count, moved / ranks / count if count else 0.0)
        for count, moved in zip(counts, blocks, strict=True)
    )


@dataclass(frozen=True)
class Terms:
    """Of a formula, in ns: those between switches, which contention multiplies, and all others."""

    near: float
    far: float

    def time(self, alpha: float = 1.0) -> float:
        return self.near + alpha * self.far

    def alpha(self, time: float) -> float | None:
        """With which it is that time; none where nothing goes between switches."""
        return (time - self.near) / self.far if self.far else None


def t_binomial(costs: Sequence[Costs], exchanges: Sequence[Exchanges], n: float) -> Terms:
    """Gather or scatter of n bytes in all over a binomial tree.

    T = ts1 C1 + ts2 C2 + alpha ts3 C3 + (tw1 C1 gamma + tw2 C2 beta + alpha tw3 C3 delta) n. The last of the
    levels is the one between switches, with contention.
    """
    terms = [
        each.count * (cost.startup + cost.per_byte * each.part * n)
        for cost, each in zip(costs, exchanges, strict=True)
    ]
    return Terms(sum(terms[:-1]), terms[-1])


def t_topo(costs: Sequence[Costs], inside: Sequence[Exchanges], n: float, racks: int) -> Terms:
    """Topology-aware gather or scatter of n bytes in all: a binomial tree in each of the R racks, of n / R
    bytes, then one among their leaders.

    T = T_binomial(inside a rack, n / R) + alpha (ts3 log2 R + tw3 (1 - 1/R) n)
    """
    if racks < 2:
        return t_binomial(costs, inside, n)
    far = costs[-1]
    between = far.startup * math.ceil(math.log2(racks)) + far.per_byte * (1 - 1 / racks) * n
    return Terms(t_binomial(costs, inside, n / racks).time(), between)
