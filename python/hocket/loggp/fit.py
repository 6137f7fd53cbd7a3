"""LogGP parameters from round trips: the method of PRTT(n, d, s).

T. Hoefler, A. Lichei, W. Rehm: Low-overhead LogGP parameter assessment for modern interconnection networks,
2007. A client sends n messages of s bytes, d apart; the server answers once, with s bytes, after the last.
    PRTT(n, 0, s) = PRTT(1, 0, s) + (n - 1) max(o, g + (s - 1) G)
    PRTT(n, d, s) = PRTT(1, 0, s) + (n - 1) (d + o)            where d = PRTT(1, 0, s)
    PRTT(1, 0, 1) = 2 (L + 2 o)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from hocket.errors import CommandError
from hocket.loggp.parameters import Protocol

_least_points = 6  # that tell a protocol
_patience = 3  # points in a row beside the line: then the protocol has changed
_tolerance = 0.4  # of the line; what single steps of a protocol stay below
_noise = 0.05  # of a round trip


@dataclass(frozen=True)
class RoundTrips:
    """Least times for one size, in nanoseconds."""

    bytes: int
    n: int
    one: float  # PRTT(1, 0, s)
    many: float  # PRTT(n, 0, s)
    apart: float  # d
    spaced: float  # PRTT(n, d, s)
    both_one: float = 0.0  # an exchange; 0 of sizes of which none was measured
    both_many: float = 0.0  # n messages each way at the same time

    def gap(self) -> float:
        return (self.many - self.one) / (self.n - 1)

    def overhead(self) -> float:
        return (self.spaced - self.one) / (self.n - 1) - self.apart


def both_ways(trips: Sequence[RoundTrips]) -> float:
    """The time between messages while as many come as go, over that of one way. Not less than 1."""
    ratios = [
        (trip.both_many - trip.both_one) / (trip.many - trip.one)
        for trip in trips
        if trip.both_many > trip.both_one > 0 and trip.many > trip.one
    ]
    return max(1.0, median(ratios)) if ratios else 1.0


Curve = Callable[[RoundTrips], float]

_curves: tuple[Curve, ...] = (lambda p: p.one, RoundTrips.gap, RoundTrips.overhead)


@dataclass(frozen=True)
class Line:
    """Of s - 1 further bytes."""

    start: float
    slope: float

    def at(self, size: int) -> float:
        return self.start + (size - 1) * self.slope


@dataclass(frozen=True)
class Point:
    size: int
    value: float
    scale: float  # what its error is in proportion to: the time of a round trip, of which it is a difference


def _points(trips: Sequence[RoundTrips], curve: Curve) -> list[Point]:
    return [Point(trip.bytes, curve(trip), trip.one) for trip in trips]


def _least_squares(points: Sequence[Point]) -> Line:
    weights = [1 / p.scale**2 for p in points]
    total = sum(weights)
    mean_x = sum(w * (p.size - 1) for w, p in zip(weights, points, strict=True)) / total
    mean_y = sum(w * p.value for w, p in zip(weights, points, strict=True)) / total
    spread = sum(w * (p.size - 1 - mean_x) ** 2 for w, p in zip(weights, points, strict=True))
    both = sum(w * (p.size - 1 - mean_x) * (p.value - mean_y) for w, p in zip(weights, points, strict=True))
    slope = max(both / spread if spread else 0.0, 0.0)
    start = mean_y - slope * mean_x
    return Line(start, slope) if start >= 0 else Line(0.0, mean_y / mean_x)


def _deviation(line: Line, point: Point) -> float:
    return abs(point.value - line.at(point.size)) / point.scale


def _weighted_median(values: Sequence[tuple[float, float]]) -> float:
    """Of (value, weight)."""
    half, passed = sum(weight for _, weight in values) / 2, 0.0
    for value, weight in sorted(values):
        passed += weight
        if passed >= half:
            return value
    return 0.0


def _usual_slope(point: Point, points: Sequence[Point]) -> float:
    """From this point to the others; far ones tell more."""
    others = [(p, p.size - point.size) for p in points if p.size != point.size]
    return _weighted_median(
        [((p.value - point.value) / far, abs(far) / (p.scale + point.scale)) for p, far in others]
    )


def _usual_line(points: Sequence[Point]) -> Line:
    """Repeated medians (Siegel 1982): a few points that are far off, even at an end, do not bend it."""
    slopes = [(_usual_slope(point, points), point.size / point.scale) for point in points]
    slope = max(_weighted_median(slopes), 0.0)
    return Line(_weighted_median([(p.value - slope * (p.size - 1), 1 / p.scale) for p in points]), slope)


def fit_line(points: Sequence[Point]) -> Line:
    """By least squares, without what is far beside the usual line."""
    line = _usual_line(points)
    usual = median(_deviation(line, point) for point in points)
    near = [point for point in points if _deviation(line, point) <= 4 * usual + 1e-3]
    return _least_squares(near) if len(near) >= 2 else line


def _usable(points: Sequence[RoundTrips]) -> list[RoundTrips]:
    """Without those whose parts contradict each other: the machine was busy with something else."""
    return [point for point in points if all(curve(point) > 0 for curve in _curves)]


def _side(line: Line, point: Point) -> int:
    """Clearly above the line: 1; below: -1."""
    expected = line.at(point.size)
    beside = abs(point.value - expected)
    if beside < _tolerance * min(expected, point.value) or beside < _noise * point.scale:
        return 0
    return 1 if point.value > expected else -1


def _leaves(before: Sequence[RoundTrips], ahead: Sequence[RoundTrips]) -> bool:
    """Whether all round trips ahead are beside the line of those before, in a curve and on one side."""
    for curve in _curves:
        line = fit_line(_points(before, curve))
        sides = {_side(line, point) for point in _points(ahead, curve)}
        if sides in ({1}, {-1}):
            return True
    return False


def segments(points: Sequence[RoundTrips]) -> list[list[RoundTrips]]:
    """The points of each protocol: a new one begins where several points in a row leave the line."""
    found = [list(points[:_least_points])]
    for i in range(_least_points, len(points)):
        enough = len(found[-1]) >= _least_points and len(points) - i >= _least_points
        if enough and _leaves(found[-1], points[i : i + _patience]):
            found.append([])
        found[-1].append(points[i])
    return found


def _protocol(points: Sequence[RoundTrips]) -> Protocol:
    """Where both overheads come to more than the whole way, they are not equal (a sender over TCP on one
    machine does the receiver's work in the kernel): then their sum is kept right, which times depend on."""
    gap = fit_line(_points(points, RoundTrips.gap))
    overhead = fit_line(_points(points, RoundTrips.overhead))
    per_byte = max(gap.slope, overhead.slope)
    way = max(median(p.one / 2 - (p.bytes - 1) * per_byte for p in points), 0.0)
    o = min(overhead.start, way / 2)
    return Protocol(
        from_bytes=points[0].bytes, L=way - 2 * o, o=o, g=gap.start, G=gap.slope, O=overhead.slope
    )


def protocols(points: Sequence[RoundTrips]) -> tuple[Protocol, ...]:
    """Of one pair of ranks, for all sizes; the first holds from 0 bytes on."""
    usable = sorted(_usable(points), key=lambda point: point.bytes)
    if len(usable) < _least_points:
        raise CommandError("too few measurements are usable; the machine is too busy", 1)
    found = [_protocol(some) for some in segments(usable)]
    return (replace(found[0], from_bytes=0), *found[1:])


def one_way(protocol: Protocol, size: int) -> float:
    """What the model says of half a PRTT(1, 0, s)."""
    return protocol.L + 2 * protocol.o + max(size - 1, 0) * max(protocol.G, protocol.O)


def error(points: Sequence[RoundTrips], fitted: Sequence[Protocol]) -> float:
    """The usual relative deviation of single messages from the model."""

    def of(point: RoundTrips) -> float:
        protocol = [p for p in fitted if p.from_bytes <= point.bytes][-1]
        return abs(one_way(protocol, point.bytes) / (point.one / 2) - 1)

    return median(of(point) for point in points)
