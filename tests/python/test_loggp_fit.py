"""The fit recovers what a synthetic network was given."""

from __future__ import annotations

from dataclasses import replace

import pytest
from built_programs import mpis_with
from hocket import mpis
from hocket.bench import program
from hocket.errors import CommandError
from hocket.loggp import fit, measure
from hocket.loggp.fit import RoundTrips
from hocket.loggp.parameters import Protocol
from synthetic_transport import SIZES, Network

INFINIBAND = Protocol(0, L=900, o=250, g=300, G=0.09)
ETHERNET = Protocol(0, L=12_000, o=2_500, g=3_200, G=0.85)
SHARED_MEMORY = Protocol(0, L=200, o=70, g=95, G=0.1, O=0.05)
PLANTED = [INFINIBAND, ETHERNET, SHARED_MEMORY]


def _check(found: Protocol, planted: Protocol) -> None:
    for name in ("L", "o", "g", "G"):
        assert getattr(found, name) == pytest.approx(getattr(planted, name), rel=0.1), name
    assert pytest.approx(planted.O, rel=0.1, abs=0.1 * planted.G) == found.O


@pytest.mark.parametrize("planted", PLANTED)
def test_without_noise_the_parameters_come_back(planted: Protocol) -> None:
    points = Network([planted]).sweep()
    (found,) = fit.protocols(points)
    _check(found, planted)
    assert fit.error(points, [found]) < 0.01


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("seed", range(10))
def test_noise_does_not_matter_much(planted: Protocol, seed: int) -> None:
    (found,) = fit.protocols(Network([planted], noise=0.1, seed=seed).sweep())
    _check(found, planted)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("change", [4096, 65536])
def test_a_change_of_protocol_is_found(seed: int, change: int) -> None:
    eager = INFINIBAND
    rendezvous = Protocol(change, L=3 * eager.L + change * 0.2, o=900, g=2_500, G=0.05)
    found = fit.protocols(Network([eager, rendezvous], noise=0.05, seed=seed).sweep())
    assert [protocol.from_bytes for protocol in found] == [0, change]
    _check(found[0], eager)
    _check(found[1], rendezvous)


@pytest.mark.parametrize(
    "spoiled", [[0], [3, 4], [10, 20, 30], [len(SIZES) - 1], [5, len(SIZES) - 2, len(SIZES) - 1]]
)
def test_a_busy_moment_is_no_change_of_protocol(spoiled: list[int]) -> None:
    points = Network([INFINIBAND]).sweep()
    for i, curve in zip(spoiled, ("one", "many", "spaced"), strict=False):
        points[i] = replace(points[i], **{curve: 40 * getattr(points[i], curve)})
    (found,) = fit.protocols(points)
    _check(found, INFINIBAND)


def test_unequal_overheads_keep_the_time_of_a_message_right() -> None:
    points = [replace(p, spaced=p.spaced + 15 * 2_000) for p in Network([INFINIBAND]).sweep()]
    (found,) = fit.protocols(points)
    assert found.L == 0
    assert fit.one_way(found, 1) == pytest.approx(fit.one_way(INFINIBAND, 1), rel=0.1)


def test_nothing_is_made_of_too_little() -> None:
    with pytest.raises(CommandError, match="too few measurements"):
        fit.protocols(Network([INFINIBAND]).sweep([1, 2, 3]))


def _exchanged(points: list[RoundTrips], ratio: float) -> list[RoundTrips]:
    return [replace(p, both_one=p.one / 2, both_many=p.one / 2 + ratio * (p.many - p.one)) for p in points]


def test_exchanges_tell_what_a_byte_takes_both_ways() -> None:
    points = Network([ETHERNET]).sweep()
    assert fit.both_ways(points) == 1
    assert fit.both_ways([*points[:-4], *_exchanged(points[-4:], 1.2)]) == pytest.approx(1.2)
    assert fit.both_ways(_exchanged(points, 0.9)) == 1


MACHINE = (
    '{"ranks": 4, "cache_ranks": 1, "node_ranks": 2, "pretended_node_size": 2, "copy": 0.1, "reduce": 0.2}'
)


def _lines(level: str, planted: Protocol) -> list[str]:
    return [
        f'{{"level": "{level}", "bytes": {p.bytes}, "n": {p.n}, "one": {p.one}, "many": {p.many}, '
        f'"apart": {p.apart}, "spaced": {p.spaced}, "both_one": {p.both_one}, "both_many": {p.both_many}}}'
        for p in _exchanged(Network([planted]).sweep(), 1.5)
    ]


def test_the_farthest_level_stands_for_all_ranks() -> None:
    lines = [MACHINE, *_lines("node", SHARED_MEMORY), *_lines("network", INFINIBAND)]
    found = measure.of_lines("openmpi", "5.0", ["some banner", *lines]).parameters
    assert [(level.name, level.ranks, level.shared_memory) for level in found.levels] == [
        ("node", 2, True),
        ("network", 0, False),
    ]
    assert (found.copy, found.reduce, found.pretended_node_size) == (0.1, 0.2, 2)
    assert {level.both_ways for level in found.levels} == {1.5}
    _check(found.levels[0].protocols[0], SHARED_MEMORY)
    _check(found.levels[1].protocols[0], INFINIBAND)


def test_groups_fill_their_node() -> None:
    machine = MACHINE.replace('"cache_ranks": 1, "node_ranks": 2', '"cache_ranks": 8, "node_ranks": 12')
    levels = {"cache": SHARED_MEMORY, "node": SHARED_MEMORY, "network": INFINIBAND}
    lines = [line for level, planted in levels.items() for line in _lines(level, planted)]
    found = measure.of_lines("openmpi", "5.0", [machine, *lines]).parameters
    assert [level.ranks for level in found.levels] == [4, 12, 0]


def test_one_rank_measures_nothing() -> None:
    with pytest.raises(CommandError, match="takes two ranks"):
        measure.of_lines("openmpi", "5.0", [MACHINE])


BUILT = mpis_with(program.loggp_program)


@pytest.mark.skipif(not BUILT, reason="no MPI with a built program of round trips")
@pytest.mark.parametrize("mpi", BUILT, ids=lambda mpi: mpi.name)
def test_a_real_mpi_is_measured(mpi: mpis.Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOCKET_NODE_SIZE", "2")
    found = measure.run(mpi, 3, most_bytes=256).parameters
    assert [level.name for level in found.levels][-1] == "network"
    assert len(found.levels) == 2
    assert found.mpi_version
    for level in found.levels:
        assert level.protocols[0].from_bytes == 0
        assert level.protocols[0].o + level.protocols[0].L > 0
        assert 1 <= level.both_ways < 10
