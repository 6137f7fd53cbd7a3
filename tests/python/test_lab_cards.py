"""Cards of a lab as values: addresses, links, control groups, what jobs are told. All without namespaces."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket.errors import CommandError
from hocket.lab import batches, control_groups, control_places, drawing, faults, lab, shape, tree
from hocket.lab.control_groups import Groups
from hocket.lab.control_places import GroupError, Place
from hocket.lab.lab import Lab
from hocket.lab.process import Process

Hocket = Callable[..., subprocess.CompletedProcess[str]]

WITH_CARDS = shape.Shape(card_cores=0.5)


def _lab(groups: Groups | None = None) -> Lab:
    plan = tree.build(WITH_CARDS)
    pids = {each.name: 100 + i for i, each in enumerate((*plan.machines, *plan.cards))}
    return Lab("test", Process(1, 1), False, WITH_CARDS, pids, groups=groups)


def test_each_node_has_a_card_where_there_are_any() -> None:
    plan = tree.build(WITH_CARDS)
    assert [card.name for card in plan.cards] == ["n0-card", "n1-card", "n2-card", "n3-card"]
    assert plan.named("n2-card").parent == "leaf1"
    assert plan.lower_end(plan.named("n2")) == plan.named("n2-card")
    assert plan.lower_end(plan.named("leaf1")) == plan.named("leaf1")
    without = tree.build(shape.Shape())
    assert not without.cards
    assert without.machines == plan.machines
    assert without.lower_end(without.named("n2")) == without.named("n2")


@pytest.mark.parametrize(("leaves", "nodes"), [(1, 250), (250, 1), (128, 2), (16, 16)])
def test_no_two_have_the_same_address(leaves: int, nodes: int) -> None:
    plan = tree.build(shape.Shape(leaves=leaves, nodes=nodes, card_cores=1.0))
    addresses = [each.address for each in (*plan.machines, *plan.cards) if each.address]
    assert len(set(addresses)) == len(addresses) == 2 * leaves * nodes + 1
    assert all(1 <= int(address.rpartition(".")[2]) <= 250 for address in addresses)


@pytest.mark.parametrize("cores", [-1.0, 0.001, 5000.0])
def test_impossible_cards_are_refused(cores: float) -> None:
    with pytest.raises(CommandError, match=r"cards have 0\.01 to 1024 cores"):
        shape.Shape(card_cores=cores)


def test_a_shape_with_cards_survives_json() -> None:
    assert shape.from_json(WITH_CARDS.as_json()) == WITH_CARDS


def test_the_link_to_the_switch_is_the_cards() -> None:
    where = _lab()
    size = batches.packets(0)
    leaf = batches.switch_links(where.tree, where.tree.named("leaf1"), where.pids, size)
    assert f"link add name n2 mtu 1500 type veth peer name up0 mtu 1500 netns {where.pids['n2-card']}" in leaf
    node, card = where.tree.named("n2"), where.tree.named("n2-card")
    inside = batches.card_links(node, card, where.pids, size).splitlines()
    assert f"link add name n2 mtu 1500 type veth peer name eth0 mtu 1500 netns {where.pids['n2']}" in inside
    assert f"link add name host0 type veth peer name card0 netns {where.pids['n2']}" in inside
    assert "address add 10.77.253.3/16 dev net0" in inside
    assert "link set dev up0 master br0" in batches.own_end(card)
    assert batches.own_shaping(card, size).startswith("qdisc replace dev up0 root tbf rate 100000000bit")


def test_cards_are_hosts() -> None:
    where = _lab()
    assert "10.77.253.4 n3-card\n" in batches.hosts(where.tree)
    members = {"n3-card": [Path("/groups/a"), Path("/groups/b")]}
    script = batches.remote_shell(where.pids, where.tree, members)
    joining = "echo 0 >/groups/a; echo 0 >/groups/b"
    assert f"  n3-card|10.77.253.4) pid={where.pids['n3-card']}; {joining} ;;\n" in script
    assert f"  n3|10.77.1.2) pid={where.pids['n3']} ;;\n" in script


def test_cards_are_drawn_beside_their_nodes() -> None:
    plan = tree.build(WITH_CARDS)
    drawn = drawing.lines(plan, WITH_CARDS)
    assert drawn[2] == "│  ├─ n0  10.77.0.1  100mbit  card 10.77.253.1 of 0.5 cores"
    leaf = drawing.as_json(plan, WITH_CARDS)["tree"]["below"][0]
    assert [node["card"] for node in leaf["below"]] == ["10.77.253.1", "10.77.253.2"]


def test_links_have_the_names_of_nodes() -> None:
    with pytest.raises(CommandError, match="'n1-card' has its node's link"):
        faults.links_of(_lab(), "n1-card", False)
    assert faults.links_of(_lab(), "leaf1", True) == ["leaf1", "n2", "n3"]


@pytest.mark.parametrize(
    ("cores", "share"),
    [(0.5, (5000, 10000)), (2.0, (20000, 10000)), (0.05, (1000, 20000)), (0.01, (1000, 100000))],
)
def test_a_share_is_of_a_short_period(cores: float, share: tuple[int, int]) -> None:
    assert control_groups.share_us(cores) == share


def _hierarchy(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.procs").touch()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def _mountinfo(top: Path, kind: str, options: str, root: str = "/") -> str:
    return f"31 23 0:28 {root} {top} rw,relatime shared:4 - {kind} cgroup {options}\n"


def test_version_2_is_taken_where_it_hands_the_controller_on(tmp_path: Path) -> None:
    """The own group does not, as it has processes."""
    top = _hierarchy(tmp_path, cgroup__subtree_control="cpuset cpu memory\n")
    user = _hierarchy(top / "user.slice", cgroup__subtree_control="cpu memory\n")
    _hierarchy(user / "session", cgroup__subtree_control="\n")
    old = _hierarchy(tmp_path / "old")
    mounts = _mountinfo(top, "cgroup2", "rw") + _mountinfo(old, "cgroup", "rw,cpu,cpuacct")
    assert control_places.find_in(mounts, "0::/user.slice/session\n") == Place(2, (user,))


def test_version_1_has_two_hierarchies_or_one(tmp_path: Path) -> None:
    unified = _hierarchy(tmp_path / "unified", cgroup__subtree_control="")
    cpu = _hierarchy(_hierarchy(tmp_path / "cpu") / "mine")
    count = _hierarchy(tmp_path / "cpuacct")
    mounts = _mountinfo(unified, "cgroup2", "rw") + _mountinfo(tmp_path / "cpu", "cgroup", "rw,cpu")
    apart = mounts + _mountinfo(count, "cgroup", "rw,cpuacct")
    own = "3:cpu:/mine\n2:cpuacct:/\n0::/\n"
    assert control_places.find_in(apart, own) == Place(1, (cpu, count))
    both = _mountinfo(tmp_path / "cpu", "cgroup", "rw,cpu,cpuacct", root="/container")
    assert control_places.find_in(both, "3:cpu,cpuacct:/container/mine\n") == Place(1, (cpu,))


def test_without_a_control_group_it_is_said_where_one_was_looked_for(tmp_path: Path) -> None:
    top = _hierarchy(tmp_path / "unified", cgroup__subtree_control="memory\n")
    with pytest.raises(GroupError, match=rf"no control group .* Looked at {top}"):
        control_places.find_in(_mountinfo(top, "cgroup2", "rw"), "0::/\n")
    with pytest.raises(GroupError, match="no hierarchy for processors is mounted"):
        control_places.find_in("1 1 0:1 / / rw - tmpfs tmpfs rw\n", "")


def test_version_2_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_groups, "find", lambda: Place(2, (tmp_path,)))
    groups = control_groups.create(["n0-card"], 0.25)
    folder = Path(groups.folders[0])
    assert folder.name.startswith(f"hocket-lab-{os.getpid()}-")
    assert (folder / "cgroup.subtree_control").read_text() == "+cpu"
    assert (folder / "n0-card" / "cpu.max").read_text() == "2500 10000"
    (folder / "n0-card" / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    assert groups.seconds("n0-card") == 1.5
    assert groups.members("n0-card") == [folder / "n0-card" / "cgroup.procs"]


def test_groups_that_cannot_be_made_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(control_groups, "find", lambda: Place(1, (tmp_path,)))
    monkeypatch.setattr(control_groups, "_limit", refuse)
    with pytest.raises(GroupError, match=r"no control groups of 0\.5 cores.*Permission denied"):
        control_groups.create(["n0-card", "n1-card"], 0.5)
    assert not list(tmp_path.iterdir())


def test_what_dead_labs_have_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(1, (tmp_path,))
    monkeypatch.setattr(control_groups, "find", lambda: place)
    monkeypatch.setattr(control_groups, "_limit", lambda *_: None)
    living = control_groups.create(["n0-card"], 0.5)
    left = tmp_path / f"hocket-lab-{os.getpid()}-1"
    (left / "n0-card").mkdir(parents=True)
    (tmp_path / "hocket-lab-of-somebody").mkdir()
    control_groups._sweep(place)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        ["hocket-lab-of-somebody", Path(living.folders[0]).name]
    )
    assert control_groups.remove(living, 0.0)
    assert control_groups.remove(living, 0.0)


def test_jobs_see_what_cards_use_elsewhere() -> None:
    apart, one = _lab(Groups(1, ("/cpu/x", "/cpuacct/x"))), _lab(Groups(2, ("/sys/x",)))
    assert [str(each.card_groups()) for each in (apart, one)] == [
        "/tmp/.hocket-lab/groups/1",
        "/tmp/.hocket-lab/groups/0",
    ]
    with pytest.raises(CommandError, match="was made without --dpu"):
        _lab().card_groups()


def test_groups_are_part_of_a_lab_that_is_found_again() -> None:
    wanted = _lab(Groups(1, ("/a", "/b")))
    assert lab.from_json(wanted.as_json()) == wanted
    assert lab.from_json(_lab().as_json()) == _lab()


def test_a_card_dies_with_its_node() -> None:
    dead = dataclasses.replace(_lab(), dead=("n1", "n1-card"))
    assert [card.name for card in dead.living_cards()] == ["n0-card", "n2-card", "n3-card"]
    with pytest.raises(CommandError, match="n1-card of lab 'test' is dead"):
        dead.check_alive(["n1-card"])


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("up", "--cores", "1"), "--cores is about cards, which are made by --dpu"),
    (("run", "--up", "--cores", "1", "true"), "--cores is about cards"),
    (("up", "--dpu", "--cores", "5000"), "cards have 0.01 to 1024 cores"),
    (("up", "--dpu", "--cores", "0"), "0.01"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=str)
def test_wrong_words_get_a_clear_answer(
    hocket: Hocket, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    refused = hocket("lab", *arguments, XDG_RUNTIME_DIR=str(tmp_path))
    assert refused.returncode == 2
    assert message in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr


def test_a_missing_service_is_named(hocket: Hocket, tmp_path: Path) -> None:
    refused = hocket("lab", "up", "--dpu", XDG_RUNTIME_DIR=str(tmp_path), HOCKET_PREFIX=str(tmp_path))
    assert refused.returncode == 1
    assert "hocketd is missing, which cards run" in " ".join(refused.stderr.split())
