"""hocket simulate: switches that reduce."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from hocket.simulate import machine, placement, scale
from hocket.simulate.machine import Machine
from hocket.simulate.scale import Call, Prediction

Hocket = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("hocket._core")

_MEGABYTE = 1 << 20
_SECONDS = 8 * _MEGABYTE / (0.957 * 100e6)  # that a link needs for one


def _level(name: str, latency: float) -> dict[str, Any]:
    protocol = {"from_bytes": 0, "L": latency, "o": 500, "g": 500, "G": 8e9 / (0.957 * 100e6)}
    return {"name": name, "protocols": [protocol]}


_FILE = {
    "schema": "hocket-loggp-1",
    "topology": "leaf:4 node:4 core:2",
    "levels": [
        {**_level("node", 500), "protocols": [{"from_bytes": 0, "L": 500, "o": 50, "g": 50, "G": 0.05}]},
        _level("leaf", 10_000),
        _level("all", 20_000),
    ],
    "links": {name: {"rate": "100mbit", "efficiency": 0.957} for name in ("node", "leaf")},
    "switches": {"latency_ns": 300},
    "copy": 0.05,
    "reduce": 0.1,
}
_LAB = machine.from_dict(_FILE)


def _predicted(algorithm: str, ranks: int, each: int, described: Machine = _LAB) -> Prediction:
    nodes = placement.ordered(described.shape, "block", 1)
    placed = placement.on_nodes(nodes[: -(-ranks // each)], ranks, each)
    return scale.predict(described, placed, Call("allreduce", _MEGABYTE), algorithm)


@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_a_node_sends_its_bytes_once(ranks: int) -> None:
    found = _predicted("in_network", ranks, 1)
    assert found.total == pytest.approx(_SECONDS * 1e9, rel=0.001)
    assert [each.bytes for each in found.carried][:2] == [
        ranks * _MEGABYTE,
        ranks // 4 * _MEGABYTE * (ranks > 4),
    ]


def test_segments_hide_what_ranks_of_a_node_do_behind_the_network() -> None:
    alone = _predicted("in_network", 16, 1).total
    whole = _predicted("in_network by nodes", 32, 2).total
    assert _predicted("in_network by nodes in 16 segments", 32, 2).total < whole
    assert _predicted("in_network by nodes in 16 segments", 32, 2).total < 1.02 * alone


def test_a_ring_sends_almost_twice_as_much() -> None:
    ring = _predicted("ring", 16, 1).total
    assert ring / _predicted("in_network", 16, 1).total == pytest.approx(2 * 15 / 16, rel=0.02)


def test_a_machine_without_switches_says_so() -> None:
    plain = machine.from_dict({key: value for key, value in _FILE.items() if key != "switches"})
    assert "needs switches that reduce" in _predicted("in_network", 16, 1, plain).refusal
    assert not _predicted("in_network", 16, 1, machine.with_switches(plain)).refusal
    assert machine.with_switches(_LAB).switches == _LAB.switches


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({}, "switches lacks 'latency_ns'"),
        ({"latency_ns": -1}, "latency_ns of switches is -1"),
        ({"latency_ns": 1, "rate": "fast"}, "'fast' is not a rate"),
        ({"latency_ns": 1, "radix": 8}, "switches has 'radix'"),
        (7, "switches must be an object"),
    ],
)
def test_what_is_wrong_with_switches_is_named(switches: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        machine.from_dict({**_FILE, "switches": switches})


def test_they_are_beside_what_there_is_if_asked_for(hocket: Hocket) -> None:
    start = ["simulate", "--machine"]
    words = (*start, "leaf:4 node:4 core:2", "-n", "32", "--collective", "allreduce", "--json")
    plain, asked = (
        {each["algorithm"]: each["refusal"] for each in json.loads(hocket(*words, *more).stdout)}
        for more in ((), ("--switches", "aggregate"))
    )
    assert set(asked) - set(plain) == {"in_network by nodes"}
    assert asked["in_network by nodes"] == ""
    assert "no word for switches named 'reduce'" in hocket(*words, "--switches", "reduce").stderr


def test_thousands_of_nodes_take_hardly_longer(hocket: Hocket) -> None:
    done = hocket(
        "simulate", "--machine", "leaf:219 node:36 core:1", "-n", "72,7861", "--collective", "allreduce",
        "--bytes", "8", "--algorithm", "in_network", "--algorithm", "recursive_doubling",
        "--switches", "aggregate", "--json",
    )  # fmt: skip
    few, few_pairs, many, many_pairs = (each["total"] for each in json.loads(done.stdout))
    assert many == pytest.approx(few, rel=0.01)
    assert many_pairs > 2 * many
    assert many_pairs > 1.5 * few_pairs
