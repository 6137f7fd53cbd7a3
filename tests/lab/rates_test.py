"""Links are as fast as they are said to be: the bytes that a stream gets through, counted by the link itself.

More than the rate must never get through. Less does where the cores are busy with something else, so the
best of several windows is looked at, and where not even that one comes near, on a machine with more work
than cores, it is said and not judged. Nothing is ever dropped, at any rate.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from dataclasses import dataclass

from hocket.errors import CommandError
from hocket.lab import lab, statistics, traffic
from hocket.lab.quantities import parse_rate
from hocket.lab.shape import Shape
from in_lab import expect, result, skip

WINDOWS, WINDOW_SECONDS = 5, 0.6
TOLERANCE = 0.1
BURST_BYTES = 16384


@dataclass(frozen=True)
class Reading:
    """Of a link's counter, at some time between the two."""

    earliest: float
    latest: float
    bytes: int


def _least(a: Reading, b: Reading) -> float:
    """Bits per second that must have passed at least; what may pass at once does not count."""
    return 8 * max(b.bytes - a.bytes - BURST_BYTES, 0) / (b.latest - a.earliest)


def _most(a: Reading, b: Reading) -> float:
    return 8 * (b.bytes - a.bytes) / max(b.earliest - a.latest, 1e-3)


def _readings(made: lab.Lab, link: str) -> list[Reading]:
    found = []
    for i in range(WINDOWS + 1):
        before = time.monotonic()
        read = {each.lower: each for each in statistics.read(made)}
        found.append(Reading(before, time.monotonic(), read[link].up.bytes))
        if i < WINDOWS:
            time.sleep(WINDOW_SECONDS)
    return found


def _case(word: str, judged: bool) -> None:
    rate = parse_rate(word)
    try:
        started = lab.start("rates", Shape(rate=rate, uplink=rate, core=rate))
    except CommandError as problem:
        skip(str(problem))
    made = started.lab
    try:
        with traffic.running(made, ["n0", "n3"], 4 << 20):
            time.sleep(0.7)  # TCP finds its window
            found = _readings(made, "leaf0")
        links = statistics.read(made)
    finally:
        made.end()
    windows = list(itertools.pairwise(found))
    least = _least(found[0], found[-1]) / rate
    best = max(_most(a, b) for a, b in windows) / rate
    shown = f"{least:.3f} at least in {WINDOWS} windows, {best:.3f} at most in the best one"
    load = os.getloadavg()[0]
    print(f"{word}: of the rate {shown}; load {load:.1f}", flush=True)
    expect(least < 1 + TOLERANCE, f"{word}: no more than the rate", shown)
    expect(
        all(each.up.dropped + each.down.dropped == 0 for each in links),
        f"{word}: nothing is dropped",
        str(links),
    )
    carried = {each.lower: each.up.bytes for each in links}
    expect(
        abs(carried["leaf0"] - carried["n0"]) < 0.05 * carried["n0"] + (1 << 20),
        f"{word}: both links of the way count it",
        str(carried),
    )
    if judged and not (best < 1 - TOLERANCE and load > (os.cpu_count() or 1)):
        expect(best > 1 - TOLERANCE, f"{word}: the rate is reached", shown)


def main() -> int:
    cases = (("100mbit", True), ("500mbit", True), ("1gbit", False))
    for word, judged in cases:
        _case(word, judged)
    return result("rates", cases)


if __name__ == "__main__":
    sys.exit(main())
