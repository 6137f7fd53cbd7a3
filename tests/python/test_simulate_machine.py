"""Machine files: what is read from them, and that bad ones are errors that say so."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hocket.errors import CommandError
from hocket.loggp import parameters
from hocket.simulate import batches, machine, network, placement
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("hocket._core")

_PROTOCOL = {"from_bytes": 0, "L": 1000, "o": 200, "g": 300, "G": 0.5}
GOOD: dict[str, Any] = {
    "schema": "hocket-loggp-1",
    "topology": "leaf:4 node:4 core:2",
    "levels": [
        {"name": "node", "protocols": [_PROTOCOL]},
        {"name": "leaf", "protocols": [_PROTOCOL, {**_PROTOCOL, "from_bytes": 4096, "O": 0.1}]},
        {"name": "all", "protocols": [_PROTOCOL]},
    ],
    "links": {"node": {"rate": "100mbit", "efficiency": 0.957}, "leaf": {"rate": "2.5 Gbit/s", "gap_ns": 10}},
    "copy": 0.1,
}


def test_a_file_is_a_machine(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(GOOD))
    found = machine.read(tmp_path / "m.json")
    assert found.shape.levels == ("node", "leaf")
    assert (len(found.shape.nodes), found.shape.slots) == (16, 2)
    assert [level.name for level in found.levels] == ["node", "leaf", "all"]
    assert found.links["node"].per_byte() == pytest.approx(83.595, rel=1e-4)
    assert found.level("leaf").protocols[1].O == 0.1


def test_what_loggp_writes_is_a_machine_with_a_topology(tmp_path: Path) -> None:
    measured = parameters.Parameters(
        **{**parameters.DEFAULTS.__dict__, "topology": "leaf:2 node:4 core:32", "mpi": "openmpi"}
    )
    parameters.write(tmp_path / "m.json", measured)
    assert parameters.read(tmp_path / "m.json") == measured
    found = machine.read(tmp_path / "m.json")
    assert [level.name for level in found.levels] == ["cache", "node", "leaf", "all"]
    assert found.shape.inside == {"cache": 8}
    assert found.level("leaf").protocols == found.level("all").protocols


def test_a_topology_may_be_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "racks").write_text("n0 /row0/rack0\nn1 /row0/rack1\nn2 /row1/rack2\nn3 /row1/rack2\n")
    (tmp_path / "m.json").write_text(json.dumps({**GOOD, "topology": "racks", "links": {}, "levels": [
        {"name": "all", "protocols": [_PROTOCOL]}]}))  # fmt: skip
    found = machine.read(tmp_path / "m.json")
    assert found.shape.nodes == ("n0", "n1", "n2", "n3")
    assert found.shape.above == {"rack": (0, 1, 2, 2), "row": (0, 0, 1, 1)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other"}, "schema is 'other'"),
        ({"topology": 7}, "'topology' must be words"),
        ({"topology": "leaf"}, "'leaf' is no file"),
        ({"topology": "leaf:0"}, "is not 'LEVEL:COUNT'"),
        ({"levels": []}, "levels must be a list that is not empty"),
        ({"levels": [{"name": "all"}]}, "lacks 'protocols'"),
        ({"levels": GOOD["levels"][:2]}, "and one more, 'all'; beside them there are: none"),
        ({"levels": [GOOD["levels"][2]] * 2}, "two levels have the same name"),
        ({"links": {"rack": {"rate": "1gbit"}}}, "link rack is of no level of the topology"),
        ({"links": {"node": {"rate": "fast"}}}, "'fast' is not a rate"),
        ({"links": {"node": {"rate": "1gbit", "efficiency": 0}}}, "efficiency of link node is 0"),
        ({"links": {"node": {"speed": 1}}}, "link node lacks 'rate'"),
        ({"copy": -1}, "copy is -1"),
        ({"copy": float("nan")}, "copy is nan"),
        ({"copy": True}, "copy is True, and no number"),
        ({"colour": 1}, "has 'colour'"),
    ],
)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    (tmp_path / "m.json").write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(CommandError) as problem:
        machine.read(tmp_path / "m.json")
    assert message in str(problem.value)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("leaf:2 node:2"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inside for place in _places(each, (*path, key)))]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_places(GOOD)[1:]), _values)
def test_damage_is_understood_or_refused(place: tuple[Any, ...], value: Any) -> None:
    damaged = copy.deepcopy(GOOD)
    inner: Any = damaged
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    try:
        found = machine.from_dict(damaged)
    except (ValueError, CommandError) as problem:
        assert str(problem)
        return
    placed = placement.on_nodes(list(range(len(found.shape.nodes))), 1, 1)
    assert network.of(found, placed)["levels"]


def test_blocks_are_runs_and_others_are_not() -> None:
    found = machine.from_dict(GOOD)
    block = network.of(found, placement.on_nodes(placement.ordered(found.shape, "block", 1), 32, 2))
    assert [level["ranks"] for level in block["levels"]] == [2, 8, 0]
    cyclic = network.of(found, placement.on_nodes(placement.ordered(found.shape, "cyclic", 1), 32, 2))
    assert cyclic["levels"][0]["ranks"] == 2
    assert cyclic["levels"][1]["group_of"][:10] == [0, 0, 1, 1, 2, 2, 3, 3, 0, 0]


def test_scattered_nodes_are_all_nodes_in_another_order() -> None:
    shape = machine.of_words("leaf:8 node:8").shape
    nodes = placement.ordered(shape, "scattered", 3)
    assert sorted(nodes) == list(range(64))
    assert nodes == placement.ordered(shape, "scattered", 3) != placement.ordered(shape, "scattered", 4)


def test_more_ranks_than_the_machine_holds_are_an_error() -> None:
    shape = machine.of_words("leaf:2 node:2 core:4").shape
    assert placement.per_node(shape, 16, 0) == 4
    with pytest.raises(CommandError, match="17 ranks, 4 on a node, need 5 nodes, and this machine has 4"):
        placement.per_node(shape, 17, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_batch_system_gives_each_node_once(seed: int) -> None:
    found = batches.allocate(1024, 100, seed)
    taken = [*found.own, *(node for job in found.others for node in job)]
    assert len(found.own) == 100
    assert len(set(taken)) == len(taken)
    assert set(taken) <= set(range(1024))


def test_a_batch_systems_holes_are_scattered() -> None:
    runs = []
    for seed in range(10):
        own = sorted(batches.allocate(1024, 100, seed).own)
        runs.append(1 + sum(b != a + 1 for a, b in pairwise(own)))
    assert max(runs) > 1


def test_a_job_larger_than_the_machine_is_an_error() -> None:
    with pytest.raises(CommandError, match="does not fit"):
        batches.allocate(16, 17, 1)
