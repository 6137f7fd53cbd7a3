"""Labs whose switches aggregate, as values: addresses, names, what the daemons and jobs are told."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket.commands import lab as commands
from hocket.errors import CommandError
from hocket.lab import (
    aggregation,
    batches,
    drawing,
    faults,
    jobs,
    lab,
    services,
    shape,
    slurm,
    supervisor,
    tree,
)
from hocket.lab.lab import Lab
from hocket.lab.process import Process

Hocket = Callable[..., subprocess.CompletedProcess[str]]

AGGREGATING = shape.Shape(aggregates=True)
THREE_LEVELS = shape.Shape(leaves=4, nodes=2, levels=3, pods=2, aggregates=True)


def _lab(wanted: shape.Shape = AGGREGATING) -> Lab:
    plan = tree.build(wanted)
    pids = {each.name: 100 + i for i, each in enumerate((*plan.machines, *plan.cards))}
    return Lab("test", Process(1, 1), False, wanted, pids)


def test_switches_have_addresses_where_they_aggregate() -> None:
    plan, without = tree.build(AGGREGATING), tree.build(shape.Shape())
    addresses = {switch.name: switch.address for switch in plan.switches()}
    assert addresses == {"spine": "10.77.252.1", "leaf0": "10.77.252.2", "leaf1": "10.77.252.3"}
    assert not any(switch.address for switch in without.switches())
    assert plan.nodes() == without.nodes()
    assert [dataclasses.replace(each, address="") for each in plan.switches()] == without.switches()


def test_a_switch_with_one_link_below_has_nothing_to_add_up() -> None:
    plan = tree.build(shape.Shape(leaves=4, nodes=1, levels=3, pods=2, aggregates=True))
    assert [switch.name for switch in plan.aggregating()] == ["spine", "pod0", "pod1"]
    found = {name: plan.aggregating_above(plan.named(name)) for name in ("n3", "leaf3", "pod1", "spine")}
    pod, spine = plan.named("pod1"), plan.named("spine")
    assert found == {"n3": pod, "leaf3": pod, "pod1": spine, "spine": None}
    alone = tree.build(shape.Shape(leaves=1, nodes=1, aggregates=True))
    assert [switch.name for switch in alone.aggregating()] == ["leaf0"]


@pytest.mark.parametrize(
    ("leaves", "nodes", "levels", "pods"),
    [(1, 250, 2, 1), (250, 1, 2, 1), (250, 1, 3, 250), (128, 2, 3, 128), (2, 2, 3, 2)],
)
def test_no_two_have_the_same_address(leaves: int, nodes: int, levels: int, pods: int) -> None:
    wanted = shape.Shape(leaves, nodes, levels, pods, card_cores=1.0, aggregates=True)
    plan = tree.build(wanted)
    addresses = [each.address for each in (*plan.machines, *plan.cards) if each.address]
    assert len(set(addresses)) == len(addresses)
    assert all(1 <= int(address.rpartition(".")[2]) <= 250 for address in addresses)


def test_the_switch_above_is_known() -> None:
    plan = tree.build(THREE_LEVELS)
    assert [plan.above(plan.named(name)) for name in ("n4", "leaf2", "pod1", "spine")] == [
        plan.named("leaf2"),
        plan.named("pod1"),
        plan.named("spine"),
        None,
    ]


def test_a_shape_survives_json() -> None:
    assert shape.from_json(AGGREGATING.as_json()) == AGGREGATING
    older = {name: value for name, value in AGGREGATING.as_json().items() if name != "aggregates"}
    assert shape.from_json(older) == shape.Shape()


def test_the_address_is_the_bridges() -> None:
    where = _lab()
    lines = batches.switch_links(where.tree, where.tree.named("leaf1"), where.pids, batches.packets(0))
    assert "address add 10.77.252.3/16 dev br0" in lines.splitlines()
    assert "link set dev br0 gso_max_size 15000" in lines.splitlines()
    assert "link set dev up0 master br0" in batches.own_end(where.tree.named("leaf1"))
    plain = _lab(shape.Shape())
    without = batches.switch_links(plain.tree, plain.tree.named("leaf1"), plain.pids, batches.packets(0))
    assert "address" not in without


def test_each_machine_calls_the_switch_above_by_the_same_name() -> None:
    plan = tree.build(AGGREGATING)
    told = batches.hosts(plan, plan.named("leaf1"))
    assert told.endswith("10.77.252.3 switch\n")
    assert "10.77.252.3 leaf1\n" in told
    assert " switch\n" not in batches.hosts(plan)


def test_machines_have_the_hosts_of_the_switch_above() -> None:
    plan = tree.build(shape.Shape(card_cores=0.5, aggregates=True))
    names = ("spine", "leaf1", "head", "n0", "n3", "n3-card")
    found = [supervisor._hosts(plan, plan.named(name)).name for name in names]
    assert found == ["hosts", "hosts.spine", "hosts.spine", "hosts.leaf0", "hosts.leaf1", "hosts.leaf1"]
    without = tree.build(shape.Shape())
    assert {supervisor._hosts(without, each).name for each in without.machines} == {"hosts"}


def test_switches_are_no_hosts_of_jobs() -> None:
    where, plain = _lab(), _lab(shape.Shape())
    assert batches.remote_shell(where.pids, where.tree) == batches.remote_shell(plain.pids, plain.tree)
    assert where.tree.as_rack_file() == plain.tree.as_rack_file()
    assert slurm.configuration(where.tree) == slurm.configuration(plain.tree)
    assert slurm.topology(where.tree) == slurm.topology(plain.tree)
    assert tree.choose_nodes(where.tree, "") == ["n0", "n1", "n2", "n3"]


def test_switches_are_drawn_with_their_addresses() -> None:
    plan = tree.build(AGGREGATING)
    assert drawing.lines(plan, AGGREGATING)[:2] == [
        "spine  10.77.252.1",
        "├─ leaf0  10.77.252.2  100mbit",
    ]
    assert drawing.as_json(plan, AGGREGATING)["tree"]["address"] == "10.77.252.1"
    assert drawing.as_json(plan, AGGREGATING)["shape"]["aggregates"] is True


def _told(wanted: shape.Shape, name: str) -> str:
    plan = tree.build(wanted)
    switch = plan.named(name)
    return " ".join(aggregation._arguments(switch, plan.aggregating_above(switch)))


def test_daemons_listen_at_their_own_address() -> None:
    assert _told(AGGREGATING, "spine") == (
        "--listen 10.77.252.1:18516 --stats 10.77.252.1:18517 --key /tmp/.hocket-lab/key --verbose"
    )


@pytest.mark.parametrize(
    ("wanted", "name", "parent"),
    [
        (AGGREGATING, "leaf1", "10.77.252.1"),
        (THREE_LEVELS, "pod1", "10.77.252.1"),
        (THREE_LEVELS, "leaf0", "10.77.252.2"),
        (THREE_LEVELS, "leaf3", "10.77.252.3"),
    ],
)
def test_daemons_know_the_one_above(wanted: shape.Shape, name: str, parent: str) -> None:
    assert f"--parent {parent}:18516 " in _told(wanted, name)


def test_a_single_leaf_is_the_root() -> None:
    assert "--parent" not in _told(shape.Shape(leaves=1, aggregates=True), "leaf0")


class _Recorder:
    """Stands in for services: what was started, and what waited for."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def start(self, service: services.Service, pid: int) -> _Waiting:
        self.steps.append(f"start {service.where.name} in {pid}")
        return _Waiting(self.steps, service.where.name)


@dataclasses.dataclass
class _Waiting:
    steps: list[str]
    name: str

    def wait_for(self, words: str, deadline: float) -> None:
        self.steps.append(f"{self.name}: {words}")


def test_none_starts_before_its_parent_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, where = _Recorder(), _lab(shape.Shape(leaves=1, aggregates=True))
    monkeypatch.setattr(services, "start", recorder.start)
    aggregation.start(where.tree, where.pids, Path("/switch"))
    assert recorder.steps == [
        f"start leaf0 in {where.pids['leaf0']}",
        "leaf0: hocket-switch: listening on 10.77.252.1:18516",
    ]
    recorder.steps.clear()
    where = _lab()
    aggregation.start(where.tree, where.pids, Path("/switch"))
    listens = "spine: hocket-switch: listening on 10.77.252.1:18516"
    assert recorder.steps == [
        f"start spine in {where.pids['spine']}",
        listens,
        f"start leaf0 in {where.pids['leaf0']}",
        listens,
        f"start leaf1 in {where.pids['leaf1']}",
        listens,
        "leaf0: the switch above at 10.77.252.1:18516 is reached",
        "leaf1: the switch above at 10.77.252.1:18516 is reached",
    ]


def test_jobs_are_told_of_the_switch_of_their_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"HOCKET_SWITCH": "switch:18516", "HOCKET_SWITCH_KEY": "/tmp/.hocket-lab/key"}
    assert jobs._of_services(_lab()) == told
    assert jobs._of_services(_lab(shape.Shape())) == {}
    with_cards = jobs._of_services(_lab(shape.Shape(card_cores=0.5, aggregates=True)))
    assert told.items() < with_cards.items()
    assert with_cards["HOCKET_WORKER_KEY"] == "/tmp/.hocket-lab/key"
    monkeypatch.setenv("HOCKET_SWITCH", "elsewhere:1")
    assert jobs._not_set(told) == {"HOCKET_SWITCH_KEY": "/tmp/.hocket-lab/key"}


def test_switches_ask_again_too_when_a_cable_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts: list[str] = []
    monkeypatch.setattr(Lab, "answer", lambda *_, text: scripts.append(text))
    where = dataclasses.replace(_lab(), cut=("leaf1",))
    assert faults.mend(where, ["leaf1"]).cut == ()
    assert f"nsenter -t {where.pids['spine']} -n ip neigh flush all\n" in scripts[-1]
    faults.mend(dataclasses.replace(_lab(shape.Shape()), cut=("leaf1",)), ["leaf1"])
    assert scripts[-1].count("flush") == 5  # nodes and head


def test_unknown_switches_get_a_clear_answer(hocket: Hocket, tmp_path: Path) -> None:
    refused = hocket("lab", "up", "--switches", "add", XDG_RUNTIME_DIR=str(tmp_path))
    assert refused.returncode == 2
    assert "no kind of switches named 'add'; there are: forward, aggregate" in refused.stderr


def test_a_missing_program_is_named(hocket: Hocket, tmp_path: Path) -> None:
    refused = hocket(
        "lab", "up", "--switches", "aggregate", XDG_RUNTIME_DIR=str(tmp_path), HOCKET_PREFIX=str(tmp_path)
    )
    assert refused.returncode == 1
    assert "hocket-switch is missing, which switches that aggregate run" in " ".join(refused.stderr.split())


def test_programs_are_asked_for_only_where_they_run() -> None:
    assert lab._programs(shape.Shape()) == {}


def test_a_lab_is_named_with_its_switches() -> None:
    assert commands._nodes_in_words(AGGREGATING) == "4 nodes, 2 leaves and switches that aggregate"
    assert commands._nodes_in_words(shape.Shape()) == "4 nodes, 2 leaves"


def test_jobs_get_a_lab_of_their_own_where_switches_are_chosen() -> None:
    assert [commands._aggregates(word) for word in (None, "forward", "aggregate")] == [None, False, True]
    with pytest.raises(CommandError, match="kind of switches"):
        commands._aggregates("both")
