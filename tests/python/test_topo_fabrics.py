"""Trees of the fabrics that the real ibnetdiscover finds on simulated switches, and has found."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

pytest.importorskip("hocket._core")

from fabrics import Fabric, directors, discovered, fat_tree, three_levels, two_levels
from hocket.core import core
from hocket.topology import tree

_samples = Path(__file__).resolve().parents[1] / "data" / "topology"


def _text(machine: tree.Vertex) -> str:
    text: str = core().write_topology(tree.to_vertices(machine))
    return text


@pytest.mark.parametrize("name", sorted(file.stem for file in _samples.glob("*.tree")))
def test_what_was_found_once_gives_the_same_tree(name: str, tmp_path: Path) -> None:
    printed = _samples / f"{name}.txt"
    if not printed.exists():
        printed = tmp_path / printed.name
        printed.write_bytes(lzma.decompress((_samples / f"{name}.txt.xz").read_bytes()))
    assert _text(tree.read(str(printed))) == (_samples / f"{name}.tree").read_text()


_fabrics = {
    "16 hosts, two levels": two_levels(4, 4, 2),
    "16 hosts, fat tree": fat_tree(4),
    "64 hosts, two levels": two_levels(8, 8, 4),
    "64 hosts, three levels": three_levels(pods=4, leaves=4, hosts=4, uppers=2, cores=2),
    "1024 hosts, two levels": two_levels(32, 32, 16),
    "1024 hosts, fat tree": fat_tree(16),
}


@pytest.mark.parametrize("fabric", _fabrics.values(), ids=_fabrics)
def test_a_fabric_is_read_as_it_was_made(fabric: Fabric, tmp_path: Path) -> None:
    printed = tmp_path / "ibnetdiscover.txt"
    printed.write_text(discovered(fabric, tmp_path))
    assert _text(tree.read(str(printed))).splitlines() == fabric.tree


@pytest.mark.parametrize("options", [(), ("--grouping",)], ids=["plain", "grouped"])
def test_a_chassis_is_a_level_of_its_own(options: tuple[str, ...], tmp_path: Path) -> None:
    fabric = directors(chassis=3, lines=2, hosts=3, spines=2, cores=2)
    printed = tmp_path / "ibnetdiscover.txt"
    printed.write_text(discovered(fabric, tmp_path, *options))
    assert _text(tree.read(str(printed))).splitlines() == fabric.tree


def test_a_tree_that_was_saved_is_a_source(tmp_path: Path) -> None:
    machine = tree.read(str(_samples / "three-levels.txt"))
    tree.save(machine, tmp_path / "tree")
    assert tree.read(str(tmp_path / "tree")) == machine
