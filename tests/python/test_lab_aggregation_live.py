"""Labs with switches that aggregate, really up: all connected, found by each node, gone at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket import _paths, mpis
from hocket.lab import aggregation, control_places, state
from hocket.lab.lab import Lab
from lab_needs import why_no_lab
from lab_processes import all_gone, below, named, network_namespaces, networks_of, of_lab
from waiting import until

Hocket = Callable[..., subprocess.CompletedProcess[str]]
Executable = Callable[[str, str], Path]


def _why_no_switches() -> str:
    return why_no_lab() or ("" if _paths.switch().exists() else f"{_paths.switch()} is not built")


_reason = _why_no_switches()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(_reason), reason=_reason),
    pytest.mark.usefixtures("own_labs"),
]

_PAGES = f"""
import json, sys, urllib.request
def page(name):
    place = f"http://{{name}}:{aggregation.STATISTICS_PORT}/stats.json"
    with urllib.request.urlopen(place, timeout=10) as answer:
        return json.load(answer)
print(json.dumps({{name: page(name) for name in sys.argv[1:]}}))
"""

_CARD = "echo 'hocketd: listening on 192.168.255.2:18515'; exec sleep 1000"


def _up(hocket: Hocket, *words: str, **variables: str) -> Lab:
    made = hocket("lab", "up", "--switches", "aggregate", *words, **variables)
    assert made.returncode == 0, made.stderr
    assert "and switches that aggregate, in" in made.stdout
    return state.get("lab")


@pytest.fixture
def up(own_labs: None, hocket: Hocket) -> Lab:
    return _up(hocket)


def _children(made: Lab) -> dict[str, int]:
    """Of each switch, as it says itself to the head."""
    names = [switch.name for switch in made.tree.aggregating()]
    pages = json.loads(made.answer(sys.executable, "-I", "-c", _PAGES, *names))
    return {name: pages[name]["children"] for name in names}


def _found(made: Lab, *machines: str) -> list[str]:
    """What the name of the switch above means there."""
    ask = " ".join(f"{made.remote_shell} {name} getent hosts switch;" for name in machines)
    return [line.split()[0] for line in made.answer("sh", "-c", ask).splitlines()]


def _any_mpi() -> str:
    names = [mpi.name for mpi in mpis.discover() if mpi.name in ("openmpi", "mpich")]
    if not names:
        pytest.skip("neither Open MPI nor MPICH is installed")
    return names[-1]


def test_all_are_connected_and_found_by_those_below(up: Lab) -> None:
    assert _children(up) == {"spine": 2, "leaf0": 0, "leaf1": 0}
    leaf0, leaf1 = up.tree.named("leaf0").address, up.tree.named("leaf1").address
    assert _found(up, "n0", "n1", "n2", "n3", "head") == [leaf0, leaf0, leaf1, leaf1, "10.77.252.1"]


def test_a_single_leaf_has_nobody_above(hocket: Hocket) -> None:
    made = _up(hocket, "--leaves", "1", "--nodes", "1")
    assert _children(made) == {"leaf0": 0}
    assert _found(made, "n0", "head") == ["10.77.252.1"] * 2


def test_pods_are_between(hocket: Hocket) -> None:
    made = _up(hocket, "--leaves", "4", "--nodes", "2", "--levels", "3")
    leaves = dict.fromkeys(("leaf0", "leaf1", "leaf2", "leaf3"), 0)
    assert _children(made) == {"spine": 2, "pod0": 2, "pod1": 2, **leaves}
    assert _found(made, "n0", "n2", "n7") == [made.tree.named(f"leaf{i}").address for i in (0, 1, 3)]


def test_switches_with_one_link_below_are_passed_by(hocket: Hocket) -> None:
    made = _up(hocket, "--leaves", "3", "--nodes", "1", "--levels", "3")
    assert _children(made) == {"spine": 1, "pod0": 0}
    above = [made.tree.named(name).address for name in ("pod0", "pod0", "spine", "spine")]
    assert _found(made, "n0", "n1", "n2", "head") == above


def test_links_that_wait_are_no_hindrance(hocket: Hocket) -> None:
    words = ("--nodes", "2", "--latency", "200us", "--switches", "aggregate")
    made = hocket("lab", "up", *words)
    if "cannot delay links" in made.stderr:
        pytest.skip("this kernel cannot delay links")
    assert made.returncode == 0, made.stderr
    assert _children(state.get("lab")) == {"spine": 2, "leaf0": 0, "leaf1": 0}


def test_segments_are_no_larger_than_bursts(up: Lab) -> None:
    for switch in up.tree.switches():
        told = up.answer("nsenter", "-t", str(up.pids[switch.name]), "-n", "ip", "-d", "link", "show", "br0")
        assert "gso_max_size 15000" in told


def test_ranks_are_told_where_their_switch_is(hocket: Hocket, up: Lab) -> None:
    script = 'echo $(hostname) $HOCKET_SWITCH $(stat -c %a:%s "$HOCKET_SWITCH_KEY") $(getent hosts switch)'
    words = ("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "--", "sh", "-c", script)
    leaves = ["10.77.252.2", "10.77.252.2", "10.77.252.3", "10.77.252.3"]
    expected = [f"n{i} switch:{aggregation.PORT} 600:64 {leaf} switch" for i, leaf in enumerate(leaves)]
    assert sorted(hocket(*words).stdout.splitlines()) == expected
    own = hocket(*words, HOCKET_SWITCH="elsewhere:1").stdout
    assert own.count("elsewhere:1 600:64") == 4


def test_jobs_are_on_nodes_alone(hocket: Hocket, up: Lab, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "import os\n"
        "mine = (os.uname().nodename, MPI.COMM_WORLD.allreduce(1))\n"
        "if (all := MPI.COMM_WORLD.gather(mine)): print(sorted(all))\n"
    )
    for mpi in ("openmpi", "mpich"):
        if mpi in [each.name for each in mpis.discover()]:
            done = hocket("lab", "run", "--no-hocket", "--mpi", mpi, "--", sys.executable, str(program))
            assert done.stdout == f"{[(f'n{i}', 4) for i in range(4)]}\n", done.stderr


def test_a_lab_that_forwards_tells_of_none(hocket: Hocket) -> None:
    assert hocket("lab", "up", "--switches", "forward", "--nodes", "1").returncode == 0
    assert named(of_lab(state.get("lab").supervisor.pid), "hocket-switch") == 0
    script = 'echo "none $HOCKET_SWITCH$HOCKET_SWITCH_KEY$(getent hosts switch)"'
    words = ("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "-n", "1", "--", "sh", "-c", script)
    assert hocket(*words).stdout == "none \n"


def test_cards_find_the_switch_of_their_node(hocket: Hocket, executable: Executable) -> None:
    try:
        control_places.find()
    except control_places.GroupError as problem:
        pytest.skip(str(problem))
    folder = executable("prefix/lib/hocket/hocketd", _CARD).parent
    (folder / "hocket-switch").symlink_to(_paths.switch())
    made = _up(hocket, "--dpu", HOCKET_PREFIX=str(folder.parents[1]))
    assert _children(made) == {"spine": 2, "leaf0": 0, "leaf1": 0}
    assert _found(made, "n3", "n3-card") == ["10.77.252.3"] * 2


def test_the_drawing_and_the_counters_know_them(hocket: Hocket, up: Lab) -> None:
    assert hocket("lab", "topo").stdout.startswith("spine  10.77.252.1\n├─ leaf0  10.77.252.2  100mbit\n")
    links = {link["lower"]: link for link in json.loads(hocket("lab", "stats", "--json").stdout)}
    assert list(links) == ["leaf0", "n0", "n1", "leaf1", "n2", "n3", "head"]
    assert links["leaf1"]["up"]["bytes"] > 100  # it has shown the key


def test_a_mended_cable_leads_to_the_switch_again(hocket: Hocket, up: Lab) -> None:
    assert hocket("lab", "cut", "leaf1").returncode == 0
    assert hocket("lab", "mend", "leaf1").returncode == 0
    assert _children(up) == {"spine": 2, "leaf0": 0, "leaf1": 0}


def test_nothing_is_left_when_a_lab_is_taken_down(hocket: Hocket, up: Lab) -> None:
    inside = of_lab(up.supervisor.pid)
    networks = networks_of(inside)
    assert named(inside, "hocket-switch") == 3
    assert hocket("lab", "down").returncode == 0
    assert until(lambda: all_gone(inside, networks))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_lab_whose_supervisor_is_killed(up: Lab, number: signal.Signals) -> None:
    inside = of_lab(up.supervisor.pid)
    networks = networks_of(inside)
    assert named(inside, "hocket-switch") == 3
    os.kill(up.supervisor.pid, number)
    assert until(lambda: all_gone(inside, networks))


def test_a_lab_of_one_command_ends_with_it() -> None:
    before = network_namespaces()
    words = ("run", "--switches", "aggregate", "--no-hocket", "--mpi", _any_mpi(), "--", "sleep", "60")
    command = [sys.executable, "-m", "hocket", "lab", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
        assert until(lambda: named(below(job.pid), "sleep") >= 4, 30)
        inside = below(job.pid)
        networks = networks_of(inside) - before
        assert named(inside, "hocket-switch") == 3
        job.send_signal(signal.SIGKILL)
        job.wait(timeout=30)
    assert networks
    assert until(lambda: all_gone(inside, networks))


def test_a_daemon_that_ends_is_quoted(hocket: Hocket, executable: Executable) -> None:
    daemon = executable("prefix/lib/hocket/hocket-switch", "echo 'hocket-switch: no such day' >&2; exit 3")
    before = network_namespaces()
    refused = hocket(
        "lab", "up", "--switches", "aggregate", COLUMNS="500", HOCKET_PREFIX=str(daemon.parents[2])
    )
    assert refused.returncode == 1
    assert "service of spine ended with status 3: hocket-switch: no such day" in refused.stderr
    assert not state.all_labs()
    assert until(lambda: network_namespaces() <= before)
