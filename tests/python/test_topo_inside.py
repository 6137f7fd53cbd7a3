"""The inside of nodes: by hwloc, by Hocket's own reader of /sys, and the two compared."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies

pytest.importorskip("hocket._core")

import recorded_sys
from hocket.core import core
from hocket.errors import CommandError
from hocket.topology import hwloc, tree
from recorded_sys import Cpu

Hocket = Callable[..., subprocess.CompletedProcess[str]]

_recording = Path(__file__).resolve().parents[1] / "data" / "topology" / "sys-two-cpus.txt"
_needs_hwloc = pytest.mark.skipif(
    hwloc.found() is None, reason="built without hwloc: apt-get install libhwloc-dev"
)


def _hybrid() -> list[Cpu]:
    """Four cores with two threads, and eight with one: four of them without an L3."""
    fast = [Cpu(number, core=number // 2) for number in range(8)]
    return [*fast, *(Cpu(8 + i, core=4 + i, l3=0 if i < 4 else None) for i in range(8))]


def _with_holes() -> list[Cpu]:
    """Offline: one thread here, a whole core there, and all the CPUs of one NUMA node."""
    cpus = recorded_sys.regular(packages=2, numas=2, l3s=1, cores=3, threads=2)
    for cpu in cpus:
        cpu.online = cpu.number not in (1, 5, 17) and cpu.numa != 2
    return cpus


_machines = {
    "a recorded virtual machine": recorded_sys.recorded(_recording.read_text()),
    "two packages": recorded_sys.made(recorded_sys.regular(2, 1, 2, 4, 2)),
    "several NUMA nodes a package": recorded_sys.made(recorded_sys.regular(2, 4, 2, 4, 1)),
    "more than 64 CPUs": recorded_sys.made(recorded_sys.regular(2, 1, 4, 8, 2)),
    "hybrid": recorded_sys.made(_hybrid()),
    "with CPUs offline": recorded_sys.made(_with_holes()),
    "without L3": recorded_sys.made([Cpu(i, package=i // 4, numa=i // 4, l3=None, core=i) for i in range(8)]),
    "one NUMA node over two packages": recorded_sys.made([Cpu(i, package=i // 4, core=i) for i in range(8)]),
    "an L3 over two NUMA nodes": recorded_sys.made([Cpu(i, numa=i // 4, core=i) for i in range(8)]),
}


@pytest.mark.parametrize("name", _machines)
def test_a_recording_and_machines_made_up_give_the_same_trees(name: str, tmp_path: Path) -> None:
    folder = recorded_sys.write(_machines[name], tmp_path / "sys/devices/system")
    golden = _recording.parent / "inside" / f"{name.replace(' ', '-')}.tree"
    assert core().write_topology(tree.to_vertices(tree.read(str(folder)))) == golden.read_text()


@_needs_hwloc
@pytest.mark.parametrize("files", _machines.values(), ids=_machines)
def test_hwloc_sees_what_is_read_from_sys(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same folder: hwloc can be told to take it for this machine's."""
    folder = recorded_sys.write(files, tmp_path / "sys/devices/system")
    monkeypatch.setenv("HWLOC_FSROOT", str(tmp_path))
    monkeypatch.setenv("HWLOC_COMPONENTS", "linux,stop")
    by_hwloc = tree.this_machine("hwloc")
    own = tree.read(str(folder))
    assert own.children == by_hwloc.children
    assert tree.counts(own)["core"] > 1


@_needs_hwloc
def test_hwloc_sees_of_this_machine_what_is_read_from_sys() -> None:
    assert tree.this_machine("hwloc") == tree.this_machine("sys")


@_needs_hwloc
@pytest.mark.parametrize("shape", [(2, 1, 2, 4, 2), (1, 4, 1, 2, 1), (4, 2, 2, 2, 2)])
def test_a_file_of_lstopo_is_read(shape: tuple[int, ...], tmp_path: Path) -> None:
    """Its CPUs are numbered core by core; the folder that is compared is made to be like that."""
    if not (lstopo := shutil.which("lstopo-no-graphics") or shutil.which("lstopo")):
        pytest.skip("lstopo is missing: apt-get install hwloc-nox")
    packages, numas, l3s, cores, threads = shape
    words = f"pack:{packages} group:{numas} [numa] l3:{l3s} core:{cores} pu:{threads}"
    file = tmp_path / "machine.xml"
    subprocess.run([lstopo, "--input", words, str(file)], check=True, timeout=60, env=_without_hwloc())
    cpus = recorded_sys.regular(packages, numas, l3s, cores, threads)
    for cpu in cpus:
        thread, core_number = divmod(cpu.number, len(cpus) // threads)
        cpu.number = core_number * threads + thread
    cpus.sort(key=lambda cpu: cpu.number)
    folder = recorded_sys.write(recorded_sys.made(cpus), tmp_path / "system")
    assert tree.read(str(file)).children == tree.read(str(folder)).children


def _without_hwloc() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("HWLOC")}


@_needs_hwloc
@pytest.mark.parametrize(
    "text",
    [
        *("<?xml version='1.0'?>\n", "<topology/>\n", "<topology version='2.0'>\n<object"),
        '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0',
    ],
)
def test_xml_that_is_no_machine_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(CommandError, match="hwloc"):
        tree.read(str(tmp_path / "file"))


_EXAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" gp_index="3">
      <object type="NUMANode" os_index="0" cpuset="0x0000000f" nodeset="0x00000001" gp_index="4"/>
      <object type="Core" os_index="0" cpuset="0x00000003" gp_index="5">
        <object type="PU" os_index="0" cpuset="0x00000001" gp_index="6"/>
        <object type="PU" os_index="1" cpuset="0x00000002" gp_index="7"/>
      </object>
      <object type="Core" os_index="1" cpuset="0x0000000c" gp_index="8">
        <object type="PU" os_index="2" cpuset="0x00000004" gp_index="9"/>
        <object type="PU" os_index="3" cpuset="0x00000008" gp_index="10"/>
      </object>
    </object>
  </object>
</topology>
"""


@_needs_hwloc
@given(data=strategies.data())
@settings(max_examples=150, deadline=None, print_blob=True, database=None)
def test_damaged_xml_is_read_or_refused(data: strategies.DataObject) -> None:
    """Cut off, or with other characters somewhere: a tree, or one line that says why not.

    The first character stays: it tells XML from the other forms ("0 /" would be a rack file).
    """
    text = _EXAMPLE[: data.draw(strategies.integers(1, len(_EXAMPLE)))]
    for _ in range(data.draw(strategies.integers(0, 4))):
        where = data.draw(strategies.integers(1, len(text)))
        text = text[:where] + data.draw(strategies.text('<>/"=0x9 \n\0ab-', max_size=8)) + text[where + 4 :]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "machine.xml"
        file.write_text(text)
        with contextlib.suppress(CommandError):
            assert tree.read(str(file)).kind in ("node", "network")


def test_this_machine_is_shown_without_a_source(hocket: Hocket) -> None:
    done = hocket("topo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("1 node, ")
    assert hocket("topo", "--format", "sys").returncode == 0


def test_without_hwloc_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hocket._hwloc", None)
    assert tree.this_machine().kind == "node"
    with pytest.raises(CommandError, match="needs hwloc"):
        tree.this_machine("hwloc")
