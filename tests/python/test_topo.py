"""hocket topo: machines read from files and words, shown as trees and pictures."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket.errors import CommandError
from hocket.topology import drawing, placement, tree

pytest.importorskip("hocket._core")

Hocket = Callable[..., subprocess.CompletedProcess[str]]

_samples = Path(__file__).resolve().parents[1] / "data" / "topology"

_SLURM = "SwitchName=leaf0 Nodes=n[0-1]\nSwitchName=leaf1 Nodes=n2\nSwitchName=spine Switches=leaf[0-1]\n"


def test_a_fabric_is_shown(hocket: Hocket) -> None:
    done = hocket("topo", str(_samples / "two-levels.txt"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == ["network", "├─ leaf0", "│  └─ 4 nodes: n0 n1 n2 n3"]
    assert done.stdout.splitlines()[-2:] == [
        "5 groups of switches, 16 nodes",
        "switches between two nodes: 1 (24 pairs), 3 (96 pairs)",
    ]


def test_ranks_are_shown_where_they_are(hocket: Hocket, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("n0\nn0 # with a remark\nn2\n\nn0\n")
    conf = tmp_path / "topology.conf"
    conf.write_text(_SLURM)
    done = hocket("topo", str(conf), "--ranks", str(hosts))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "network\n└─ spine\n   ├─ leaf0\n   │  ├─ n0  rank 0-1,3\n   │  └─ n1\n"
        "   └─ leaf1\n      └─ n2  rank 2\n4 groups of switches, 3 nodes\n"
        "switches between two nodes: 1 (1 pair), 3 (2 pairs)\n"
    )


def test_hosts_with_and_without_domain_are_the_same(hocket: Hocket, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("n0.cluster.org\nn1\nn0\n")
    (tmp_path / "racks").write_text("n0 /a\nn1.cluster.org /b\n")
    done = hocket("topo", str(tmp_path / "racks"), "--ranks", str(tmp_path / "hosts"))
    assert "n0  rank 0,2" in done.stdout
    assert "n1.cluster.org  rank 1" in done.stdout


def test_latencies_are_shown_as_groups(hocket: Hocket, tmp_path: Path) -> None:
    matrix = tmp_path / "matrix.txt"
    rows = [" ".join([f"n{a}", *("9" if a % 2 != b % 2 else "2" for b in range(6))]) for a in range(6)]
    matrix.write_text("\n".join(["n0 n1 n2 n3 n4 n5", *rows]) + "\n")
    done = hocket("topo", str(matrix))
    assert done.stdout == (
        "network\n├─ group0\n│  └─ 3 nodes: n0 n2 n4\n└─ group1\n   └─ 3 nodes: n1 n3 n5\n"
        "3 groups of switches, 6 nodes\nswitches between two nodes: 1 (6 pairs), 3 (9 pairs)\n"
    )
    matrix.write_text("n0 n1\nn0 0 1\nn1 ? 0\n")
    with pytest.raises(CommandError, match=r"line 3: column 2 \(n0\): '\?' is no latency in microseconds"):
        tree.read(str(matrix))


@pytest.mark.parametrize(
    ("source", "pair", "said"),
    [
        ("pod:2 leaf:2 node:2", ("node0", "node1"), "node0 to node1: 1 switch"),
        ("pod:2 leaf:2 node:2", ("node0", "node7.cluster.org"), "node0 to node7.cluster.org: 5 switches"),
        ("node:2", ("node1", "node1"), "node1 to node1: 0 switches"),
        # by cables, past the spines of the chassis, which are one more in the tree
        (str(_samples / "directors-grouped.txt"), ("n0", "n20"), "n0 to n20: 3 switches"),
    ],
)
def test_hops_between_two_hosts_are_told(
    hocket: Hocket, source: str, pair: tuple[str, str], said: str
) -> None:
    done = hocket("topo", source, "--hops", *pair)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == said


def test_hops_of_hosts_that_no_cable_connects(hocket: Hocket, tmp_path: Path) -> None:
    file = tmp_path / "fabric"
    file.write_bytes(
        b'Switch 4 "S-1" # "a"\n[1] "H-1"[1](1) # "n\xfe mlx5_0"\n'
        b'Switch 4 "S-2" # "b"\n[1] "H-2"[1](2) # "m"\n'
    )
    done = hocket("topo", str(file), "--hops", "m", "n\ufffd")
    assert done.stdout.splitlines()[-2:] == [
        "switches between two nodes: no way (1 pair)",
        "m to n\ufffd: no way",
    ]


def test_hops_need_hosts_of_the_machine(hocket: Hocket) -> None:
    done = hocket("topo", "node:2", "--hops", "node0", "elsewhere")
    assert done.returncode == 2
    assert "'elsewhere' is not in this machine" in done.stderr


def test_a_tree_is_saved(hocket: Hocket, tmp_path: Path) -> None:
    file = tmp_path / "tree"
    done = hocket("topo", "leaf:2 node:2 core:2", "--save", str(file))
    assert done.returncode == 0, done.stderr
    assert file.read_text().splitlines()[:3] == ["network network", "  network leaf0", "    node node0"]
    machine = tree.read("leaf:2 node:2 core:2")
    assert tree.read(str(file)) == machine
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        tree.save(machine, tmp_path / "no" / "tree")


def test_names_that_are_no_text_are_shown(hocket: Hocket, tmp_path: Path) -> None:
    file = tmp_path / "fabric"
    file.write_bytes(b'Switch 4 "S-1" # "sw\xff\x1b[2J" base port 0\n[1] "H-1"[1](1) # "n\xfe mlx5_0"\n')
    done = hocket("topo", str(file))
    assert done.stdout == "network\n└─ n\ufffd\n1 group of switches, 1 node\n"
    file.write_bytes(b"\xff\xfe\n")
    with pytest.raises(CommandError, match="line 1"):
        tree.read(str(file))


def test_a_machine_in_words_has_an_inside(hocket: Hocket) -> None:
    done = hocket("topo", "node:2 socket:1 core:2", "--json")
    told = json.loads(done.stdout)
    node = told["inside"][1]
    assert (node["kind"], node["name"]) == ("node", "node1")
    assert [core["name"] for core in node["inside"][0]["inside"]] == ["core2", "core3"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_is_drawn(hocket: Hocket, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"machine.{ending}"
    done = hocket("topo", str(_samples / "three-levels.txt"), "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 2000
    if ending == "svg":
        assert "<svg" in picture.read_text()


def test_nodes_with_ranks_stand_out_in_a_picture(hocket: Hocket, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    hosts = tmp_path / "hosts"
    hosts.write_text("node1\nnode3\nnode1\n")
    color = "fill: #5b9e4d"

    def drawn(*options: str) -> int:
        picture = tmp_path / "machine.svg"
        done = hocket("topo", "leaf:2 node:2", "--plot", str(picture), *options)
        assert done.returncode == 0, done.stderr
        return picture.read_text().count(color)

    assert drawn() == 0
    assert drawn("--ranks", str(hosts)) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "'nowhere' is no file, and no machine such as 'leaf:4 node:4'"),
        (("leaf:x",), "'leaf:x' is not 'LEVEL:COUNT', such as leaf:4"),
        (("leaf:2", "--format", "xml"), "unknown format 'xml'"),
        (("missing.txt", "--format", "slurm"), "'missing.txt' cannot be read: No such file"),
        (("--format", "slurm"), "'slurm' needs a file; of this machine tell sys and hwloc"),
    ],
)
def test_what_is_wrong_is_said(hocket: Hocket, words: tuple[str, ...], said: str) -> None:
    done = hocket("topo", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_line_that_is_wrong_is_named(hocket: Hocket, tmp_path: Path) -> None:
    file = tmp_path / "racks"
    file.write_text("n0 /a\nn0 /b\n")
    assert f"{file} line 2: node 'n0' is in two places" in hocket("topo", str(file)).stderr


def test_ranks_have_to_be_in_the_machine() -> None:
    machine = tree.read("node:2")
    with pytest.raises(CommandError, match="rank 1 is on 'elsewhere'"):
        placement.place(machine, ["node0", "elsewhere"])


def test_ranges_are_short() -> None:
    assert placement.ranges([0]) == "0"
    assert placement.ranges([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"


def test_many_nodes_of_a_switch_are_one_line() -> None:
    assert drawing.lines(tree.read("leaf:1 node:100"), {})[-1] == (
        "   └─ 100 nodes: node0 node1 node2 node3 node4 node5 ... node99"
    )
