"""Which labs are up, what is counted, what the user is told: all without namespaces."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket.errors import CommandError
from hocket.lab import faults, machine, state, statistics, visible
from hocket.lab.lab import Lab
from hocket.lab.process import Process, running
from hocket.lab.shape import Shape
from hocket.lab.statistics import Counted

Hocket = Callable[..., subprocess.CompletedProcess[str]]

TC = """\
qdisc noqueue 0: dev lo root refcnt 2
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc tbf 8001: dev up0 root refcnt 2 rate 100Mbit burst 16Kb lat 2.6s
 Sent 61420000 bytes 40561 pkt (dropped 3, overlimits 9 requeues 0)
 backlog 0b 0p requeues 0
qdisc tbf 8002: dev n0 root refcnt 2 rate 500Mbit burst 15Kb lat 1s
 Sent 42 bytes 1 pkts (dropped 0, overlimits 0 requeues 0)
"""


@pytest.fixture(autouse=True)
def _own_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def _this_process() -> Process:
    found = running(os.getpid())
    assert found
    return found


def _lab(name: str, process: Process) -> Lab:
    return Lab(name, process, False, Shape(), {"head": 1, "n0": 7, "n1": 8, "n2": 9, "n3": 10})


def _add(wanted: Lab) -> None:
    with state.registering():
        state.add(wanted)


def test_token_buckets_are_read() -> None:
    assert statistics.parse(TC) == {"up0": Counted(61420000, 40561, 3), "n0": Counted(42, 1, 0)}


def test_nothing_shaped_counts_nothing() -> None:
    assert statistics.parse("") == {}
    assert statistics.parse(TC[: TC.index("qdisc tbf")]) == {}


def test_a_lab_is_found_again() -> None:
    wanted = _lab("one", _this_process())
    _add(wanted)
    assert state.get("one") == wanted
    assert state.all_labs() == [wanted]
    state.remove("one")
    assert not state.folder().exists()


@pytest.mark.parametrize("start", [0, 1])
def test_a_process_number_used_again_is_no_lab(start: int) -> None:
    _add(_lab("old", Process(os.getpid(), start)))
    assert state.find("old") is None
    assert not state.folder().exists()


def test_a_lab_takes_the_place_of_a_dead_one() -> None:
    _add(_lab("one", Process(os.getpid(), 1)))
    with state.registering():
        assert state.find("one") is None
        state.add(_lab("one", _this_process()))
    assert state.find("one")


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"name": 1}'])
def test_a_broken_file_is_no_lab(text: str) -> None:
    _add(_lab("good", _this_process()))
    (state.folder() / "bad.json").write_text(text)
    assert [each.name for each in state.all_labs()] == ["good"]
    assert not (state.folder() / "bad.json").exists()


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hocket-lab").symlink_to(tmp_path)
    with pytest.raises(CommandError, match="belongs to somebody else"), state.registering():
        pass


def test_a_process_ends_once() -> None:
    with subprocess.Popen(["sleep", "60"]) as started:
        process = running(started.pid)
        assert process
        assert process.is_alive()
        assert process.kill(10)
        assert not process.is_alive()
        assert process.kill(10)


def test_paths_below_tmp_have_to_be_made_visible() -> None:
    assert visible.entries(["/usr/bin/env", "/tmp/a/b", "/tmp/c", "/tmp", "/tmp/a/d"]) == ["a", "c"]
    assert not visible.entries([machine.FOLDER / "key", machine.HOST_TMP / "a"]), "the lab's own stay"


def test_a_script_among_the_words_is_no_file() -> None:
    assert visible.of_job(["python", "-c", "pass\n" * 1000]) == visible.of_job(["python", "-c"])


def test_folders_with_odd_names_are_made_visible_on_all_machines() -> None:
    script = visible.script(_lab("one", _this_process()), ["it's a folder"])
    assert str(machine.HOST_TMP) in script
    syntax = subprocess.run(["sh", "-n"], input=script, text=True, timeout=20, check=False)
    assert syntax.returncode == 0


WRONG: list[tuple[tuple[str, ...], str, int]] = [
    (("up", "--rate", "fast"), "'fast' is not a rate", 2),
    (("up", "--latency", "1"), "'1' is not a delay", 2),
    (("up", "--levels", "5"), "2 levels of switches (leaf, spine) or 3", 2),
    (("up", "--name", "a/b"), "'a/b' is no name for a lab", 2),
    (("run", "--leafs", "3", "true"), "no option named '--leafs'", 2),
    (("run", "--name", "x", "--up", "--mpi", "/nowhere", "true"), "there is no MPI at '/nowhere'", 2),
    (("stats",), "no lab named 'lab' is up; 'hocket lab up' makes one", 2),
    (("down", "--name", "gone"), "no lab named 'gone' is up", 2),
    (("topo",), "no lab named 'lab' is up", 2),
    (("shell", "n0", "true"), "no lab named 'lab' is up", 2),
    (("cut", "n0"), "no lab named 'lab' is up", 2),
    (("mend", "n0"), "no lab named 'lab' is up", 2),
    (("kill", "n0"), "no lab named 'lab' is up", 2),
    (("traffic", "--nodes", "n0,n1"), "no lab named 'lab' is up", 2),
]


@pytest.mark.parametrize(("arguments", "message", "status"), WRONG, ids=str)
def test_wrong_words_get_a_clear_answer(
    hocket: Hocket, arguments: tuple[str, ...], message: str, status: int
) -> None:
    refused = hocket("lab", *arguments)
    assert refused.returncode == status
    assert message in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr


def test_other_labs_are_named_when_one_is_missing(hocket: Hocket) -> None:
    _add(_lab("mine", _this_process()))
    assert "no lab named 'lab' is up (there are: mine)" in " ".join(hocket("lab", "topo").stderr.split())


def test_a_node_that_is_not_there(hocket: Hocket) -> None:
    _add(_lab("lab", _this_process()))
    for words in (
        ("shell", "n9"),
        ("traffic", "--nodes", "n0,n9"),
        ("cut", "n9"),
        ("mend", "n9"),
        ("kill", "n9"),
    ):
        refused = hocket("lab", *words)
        assert refused.returncode == 2
        assert "n9" in refused.stderr


def test_only_what_has_a_link_is_cut(hocket: Hocket) -> None:
    _add(_lab("lab", _this_process()))
    wrong = {
        ("cut", "spine"): "'spine' has no link above it; --switch means all links of a switch",
        ("cut", "--switch", "n1"): "'n1' is no switch",
        ("kill", "leaf0"): "'leaf0' is a switch; 'hocket lab cut --switch leaf0' takes it away",
        ("kill", "head"): "no node named 'head'; there are n0 to n3",
    }
    for words, message in wrong.items():
        refused = hocket("lab", *words)
        assert refused.returncode == 2
        assert message in " ".join(refused.stderr.split())


def test_links_have_the_name_of_their_lower_end() -> None:
    lab = _lab("one", _this_process())
    assert faults.links_of(lab, "n1", False) == ["n1"]
    assert faults.links_of(lab, "leaf1", False) == ["leaf1"]
    assert faults.links_of(lab, "leaf1", True) == ["leaf1", "n2", "n3"]
    assert faults.links_of(lab, "spine", True) == ["leaf0", "leaf1", "head"]


def test_dead_nodes_are_not_chosen() -> None:
    lab = dataclasses.replace(_lab("one", _this_process()), dead=("n1",))
    assert faults.choose_nodes(lab, "") == ["n0", "n2", "n3"]
    with pytest.raises(CommandError, match="n1 of lab 'one' is dead"):
        faults.choose_nodes(lab, "n0-n2")
