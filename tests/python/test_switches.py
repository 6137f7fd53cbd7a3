"""hocket switches: trees of hocket-switch that follow a machine."""

from __future__ import annotations

import json
import socket
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hocket import _paths
from hocket.errors import CommandError
from hocket.topology import switch_tree, tree
from hocket.topology.switch_tree import Plan

Hocket = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("hocket._core")

_samples = Path(__file__).parent.parent / "data" / "topology"


def _plan(machine: str, *hosts: str, **changes: int) -> Plan:
    how = {"radix": 252, "trees": 1, "port": 100, **changes}
    return switch_tree.plan(tree.read(machine), hosts, **how)


def _children(plan: Plan) -> Counter[str]:
    """Of each switch, by its place."""
    above = [switch.parent for switch in plan.switches if switch.parent]
    below = [place for places in plan.place_of.values() for place in places.split(",")]
    return Counter([*above, *below])


def test_a_group_of_switches_is_one() -> None:
    found = _plan("leaf:2 node:2")
    assert [(one.place, one.parent) for one in found.switches] == [
        ("node0:100", ""),
        ("node1:100", "node0:100"),
        ("node2:100", "node0:100"),
    ]
    assert found.place_of == {
        "node0": "node1:100", "node1": "node1:100", "node2": "node2:100", "node3": "node2:100"
    }  # fmt: skip


def test_parents_come_first_and_are_near() -> None:
    found = _plan("pod:2 leaf:3 node:4")
    started: set[str] = set()
    for switch in found.switches:
        assert not switch.parent or switch.parent in started
        started.add(switch.place)
    assert len(started) == len(found.switches) == 1 + 2 + 6
    assert sorted(_children(found).values()) == [2, 3, 3, *[4] * 6]


def test_a_group_of_one_is_left_out() -> None:
    assert len(_plan("pod:1 leaf:1 node:4").switches) == 1
    assert len(_plan("leaf:4 node:4", "node4", "node5").switches) == 1
    assert len(_plan("leaf:4 node:4", "node4", "node8").switches) == 1
    assert len(_plan("leaf:4 node:4", "node4", "node5", "node8").switches) == 2
    assert len(_plan("leaf:64 node:1").switches) == 1


@pytest.mark.parametrize(("hosts", "radix"), [(2, 2), (7, 2), (36, 8), (37, 36), (300, 252), (1000, 16)])
def test_no_switch_has_more_below_it_than_it_may(hosts: int, radix: int) -> None:
    for machine in (f"node:{hosts}", f"leaf:3 node:{hosts}", f"leaf:{hosts} node:1"):
        found = _plan(machine, radix=radix)
        children = _children(found)
        assert max(children.values()) <= radix and min(children.values()) >= 2
        assert set(children) == {switch.place for switch in found.switches}
        assert [switch.parent for switch in found.switches].count("") == 1


def test_nodes_beside_switches_are_below_the_same_one() -> None:
    vertex = tree.from_vertices(
        [("network", "", -1), ("node", "a", 0), ("network", "l", 0), ("node", "b", 2)]
    )
    assert switch_tree.plan(vertex, [], 2, 1, 100).place_of == {"a": "a:100", "b": "a:100"}


def test_several_trees_are_on_different_hosts() -> None:
    found = _plan("leaf:2 node:3", trees=2)
    places = [switch.place for switch in found.switches]
    assert len(set(places)) == len(places) == 6
    assert max(Counter(switch.host for switch in found.switches).values()) == 2
    assert all(len(places.split(",")) == 2 for places in found.place_of.values())
    roots = [switch.host for switch in found.switches if not switch.parent]
    assert len(set(roots)) == 2


def test_ports_count_up_on_a_host() -> None:
    places = [one.place for one in _plan("leaf:2 node:2", trees=2).switches]
    assert places == ["node0:100", "node1:100", "node2:100", "node3:100", "node0:101", "node2:101"]
    with pytest.raises(CommandError, match="the last would be 65536"):
        _plan("node:1", trees=2, port=65535)


def test_what_cannot_be_is_told(hocket: Hocket, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("node0\nelsewhere\n")
    done = hocket("switches", "leaf:2 node:2", "--hosts", str(hosts))
    assert done.returncode == 2 and "'elsewhere' is not in this machine" in done.stderr
    assert hocket("switches", "leaf:2 node:2", "--radix", "1").returncode == 2
    assert "nowhere" in hocket("switches", str(tmp_path / "nowhere")).stderr


def test_a_fabric_has_a_switch_for_each_leaf(hocket: Hocket) -> None:
    done = hocket("switches", str(_samples / "three-levels.txt"), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    nodes = [one.name for one in tree.read(str(_samples / "three-levels.txt")).below() if one.kind == "node"]
    assert sorted(told["hosts"]) == sorted(nodes)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start(words: list[str], started: list[subprocess.Popen[str]]) -> str:
    switch = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    started.append(switch)
    assert switch.stdout
    return switch.stdout.readline()


def test_what_is_printed_can_be_run(hocket: Hocket, tmp_path: Path) -> None:
    racks = tmp_path / "racks"
    racks.write_text("".join(f"127.0.0.{i + 1} /rack{i // 2}\n" for i in range(4)))
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("k" * 64)
    done = hocket("switches", str(racks), "--port", str(_free_port()), "--key", str(key), "--json")
    told: dict[str, Any] = json.loads(done.stdout)
    started: list[subprocess.Popen[str]] = []
    try:
        for switch in told["switches"]:
            words = switch["command"].split()
            said = _start([str(_paths.switch()), *words[1:]], started)
            assert said.strip() == f"hocket-switch: listening on {switch['listen']}"
    finally:
        for process in started:
            process.terminate()
            assert process.wait(10) == 0
    assert len(started) == 3 and len(told["hosts"]) == 4
