"""Round trips over a network that is LogGP itself: what a measurement would find if the model were right."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hocket.loggp.fit import RoundTrips
from hocket.loggp.parameters import Protocol

SIZES = sorted({2**k for k in range(21)} | {3 * 2**k for k in range(19)})


class Network:
    def __init__(self, protocols: Sequence[Protocol], noise: float = 0.0, seed: int = 1) -> None:
        self.protocols, self.noise, self.random = protocols, noise, random.Random(seed)

    def protocol(self, size: int) -> Protocol:
        return [p for p in self.protocols if p.from_bytes <= size][-1]

    def _arrivals(self, n: int, apart: float, size: int) -> list[float]:
        """When the last bytes of the client's messages are at the server."""
        p = self.protocol(size)
        cpu = way_out = way_in = 0.0
        found = []
        for i in range(n):
            start = max(cpu + (apart if i else 0.0), way_out)
            cpu = start + p.o + (size - 1) * p.O
            way_out = start + p.g + (size - 1) * p.G
            begin = max(start + p.o + p.L, way_in)
            way_in = begin + p.g + (size - 1) * p.G
            found.append(begin + (size - 1) * max(p.G, p.O))
        return found

    def once(self, n: int, apart: float, size: int) -> float:
        """PRTT(n, d, s) in ns."""
        p, server = self.protocol(size), 0.0
        for arrival in self._arrivals(n, apart, size):
            server = max(server + p.o + (size - 1) * p.O, arrival + p.o)
        exact = server + p.o + p.L + (size - 1) * max(p.G, p.O) + p.o
        waited = (n - 1) * apart  # until the clock says so: what disturbs that does not make it longer
        disturbed = self.random.expovariate(1 / self.noise) if self.noise else 0.0
        return exact + (exact - waited) * disturbed

    def least(self, n: int, apart: float, size: int, trials: int = 20) -> float:
        return min(self.once(n, apart, size) for _ in range(trials))

    def round_trips(self, size: int, n: int = 16) -> RoundTrips:
        one = self.least(1, 0.0, size)
        return RoundTrips(size, n, one, self.least(n, 0.0, size), one, self.least(n, one, size))

    def sweep(self, sizes: Sequence[int] = SIZES) -> list[RoundTrips]:
        return [self.round_trips(size) for size in sizes]
