"""hocket simulate: what it predicts against the lab's facts and closed formulas, and what it prints."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hocket.core import core
from hocket.errors import CommandError
from hocket.simulate import batches, comparison, formulas, machine, placement, scale, simgrid
from hocket.simulate.formulas import Costs
from hocket.simulate.machine import Machine
from hocket.simulate.placement import Placement
from hocket.simulate.scale import Call
from hocket.simulate.simgrid import Others

Hocket = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("hocket._core")

_per_byte = 8e9 / (0.957 * 100e6)


def _level(name: str, latency: float) -> dict[str, Any]:
    protocol = {"from_bytes": 0, "L": latency, "o": 500, "g": 500, "G": _per_byte}
    return {"name": name, "protocols": [protocol], "both_ways": 1.2}


LAB_FILE = {
    "schema": "hocket-loggp-1",
    "topology": "leaf:4 node:4",
    "levels": [_level("leaf", 10_000), _level("all", 20_000)],
    "links": {name: {"rate": "100mbit", "efficiency": 0.957} for name in ("node", "leaf")},
}
LAB = machine.from_dict(LAB_FILE)
_PAGE = machine.read(Path(__file__).parents[2] / "docs" / "simulation-machine.json")
needs_simgrid = pytest.mark.skipif(not simgrid.is_there(), reason="SimGrid is not built in")


def _placed(described: Machine, word: str, ranks: int, each: int = 1) -> Placement:
    return placement.on_nodes(placement.ordered(described.shape, word, 1), ranks, each)


def _ms(collective: str, algorithm: str, size: int, word: str = "block") -> float:
    found = scale.predict(LAB, _placed(LAB, word, 16), Call(collective, size), algorithm)
    assert not found.refusal
    return found.total / 1e6


def test_a_gather_takes_what_the_roots_card_takes() -> None:
    assert _ms("gather", "linear", 1 << 20) == pytest.approx(15 * 8388.608 / (0.957 * 100), rel=0.001)


def test_a_ring_is_four_times_slower_over_oversubscribed_uplinks() -> None:
    block, cyclic = (_ms("allreduce", "ring", 1 << 20, word) for word in ("block", "cyclic"))
    assert cyclic / block == pytest.approx(4, rel=0.05)
    assert _ms("allreduce", "ring reordered", 1 << 20, "cyclic") == pytest.approx(block, rel=1e-6)


def test_hierarchies_cross_leaves_less() -> None:
    placed = _placed(LAB, "cyclic", 16)
    flat, by_leaves = (
        scale.predict(LAB, placed, Call("allreduce", 1 << 20), text) for text in ("ring", "ring by leaves")
    )
    of_leaf = {found.algorithm: found.carried[1].bytes for found in (flat, by_leaves)}
    assert of_leaf == {"ring": 30 << 20, "ring by leaves": 6 << 20}
    assert by_leaves.total < flat.total


def test_the_formula_of_a_binomial_tree() -> None:
    costs = [Costs(1, 0.1), Costs(10, 1), Costs(100, 2)]
    exchanges = formulas.binomial_exchanges(16, [0, 0, 1, 1, 1, 1, 1, 1] + [2] * 8, 3)
    assert [each.count for each in exchanges] == [1, 2, 1]
    assert sum(each.count * each.part for each in exchanges) == pytest.approx(15 / 16)
    expected = 1 + 0.1 * 1 + 2 * 10 + 1 * (2 + 4) + 3 * (100 + 2 * 8)
    terms = formulas.t_binomial(costs, exchanges, 16)
    assert terms.time(alpha=3) == pytest.approx(expected)
    assert terms.alpha(expected) == pytest.approx(3)


def test_the_formula_of_the_topology_aware_tree() -> None:
    costs = [Costs(10, 1), Costs(100, 2)]
    inside = formulas.binomial_exchanges(4, [0] * 4, 2)
    expected = 2 * 10 + 1 * 3 + 3 * (2 * 100 + 2 * 12)
    assert formulas.t_topo(costs, inside, 16, racks=4).time(alpha=3) == pytest.approx(expected)
    assert formulas.t_topo(costs, inside, 4, racks=1) == formulas.t_binomial(costs, inside, 4)


@pytest.mark.parametrize(
    ("algorithm", "gather", "scatter"),
    [("knomial", 22, 26), ("knomial by leaves", 15, 25), ("linear by leaves", 15, 18), ("linear", 15, 15)],
)
def test_a_trees_scatter_takes_more_blocks_than_its_gather(algorithm: str, gather: int, scatter: int) -> None:
    """Of the lab's scattered nodes, as docs/simulation.md explains what was measured."""
    placed = placement.in_lab(LAB.shape, "scattered", 16, 1)
    costs = "node 0 0 0\nleaf 0 0 1024\nswitches 0 0 1024\n"
    blocks = [
        core().cost(collective, algorithm, placement.places(LAB.shape, placed), costs)[1]
        for collective in ("gather", "scatter")
    ]
    assert blocks == pytest.approx([gather, scatter])


@needs_simgrid
def test_a_trees_scatter_is_dearer_only_where_messages_share_links_at_the_same_time() -> None:
    placed = placement.in_lab(LAB.shape, "scattered", 16, 1)
    calls = [Call(collective, 65536) for collective in ("gather", "scatter")]
    in_line = [scale.predict(LAB, placed, call, "knomial").total for call in calls]
    shared = [simgrid.predict(LAB, placed, call, "knomial").total for call in calls]
    assert in_line[0] == pytest.approx(in_line[1], rel=0.01)
    assert shared[0] / shared[1] == pytest.approx(0.86, rel=0.05)  # as measured


@pytest.mark.parametrize("word", ["block", "cyclic"])
def test_formulas_are_what_is_simulated_where_nothing_is_shared(word: str) -> None:
    for row in comparison.rows(LAB, _placed(LAB, word, 16), 65536):
        assert row.alone == pytest.approx(row.formula, rel=0.01), row
        assert row.alpha
        assert row.alpha >= 0.99


def test_contention_is_that_of_trees_that_do_not_know_the_leaves() -> None:
    found = {
        (row.name, row.collective): row.alpha
        for row in comparison.rows(LAB, _placed(LAB, "cyclic", 16), 65536)
    }
    assert found["T_binomial", "gather"] == pytest.approx(4, rel=0.01)  # ranks share each uplink
    assert found["T_topo", "gather"] == pytest.approx(1, rel=0.01)


def test_there_is_no_contention_between_switches_under_one() -> None:
    rows = comparison.rows(LAB, _placed(LAB, "block", 4), 65536)
    assert {row.alpha for row in rows} == {None}
    assert comparison.ratios(rows) == []


def test_the_ratio_of_the_trees_is_that_of_their_times() -> None:
    rows = comparison.rows(LAB, _placed(LAB, "cyclic", 16), 65536)
    gather, scatter = comparison.ratios(rows)
    assert (gather.collective, scatter.collective) == ("gather", "scatter")
    assert gather.formula == pytest.approx(1, rel=0.01)
    assert gather.shared == pytest.approx(1.6, rel=0.01)
    assert gather.far == pytest.approx(2 * 0.09375 / 0.75, rel=0.01)


def _shown(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_the_page_shows_what_the_command_prints(hocket: Hocket, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "simulation.md"
    described = re.search(r"```json\n(.*?)```", page.read_text(), re.DOTALL)
    shown = re.search(
        r"```\nhocket (simulate --machine lab.json [^\n]*)\n(.*?)```", page.read_text(), re.DOTALL
    )
    assert described
    assert shown
    (tmp_path / "lab.json").write_text(described[1])
    words = shlex.split(shown[1].replace("lab.json", str(tmp_path / "lab.json")))
    assert _shown(hocket(*words).stdout)[1:] == _shown(shown[2])


def test_sixty_five_thousand_ranks(hocket: Hocket) -> None:
    done = hocket(
        "simulate", "--machine", "leaf:64 node:32 core:32", "-n", "65536", "--collective", "allgather",
        "--bytes", "64K", "--algorithm", "ring", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert found["refusal"] == ""
    # each rank's card takes in all blocks but those of its own node, once
    assert found["total"] > (65536 - 32) * 65536 * 0.08
    assert {each["level"]: each["bytes"] for each in found["carried"]}["node"] == 2048 * 65535 * 65536


def test_the_table_and_the_picture(hocket: Hocket, tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_text(json.dumps(LAB_FILE))
    picture = tmp_path / "out.svg"
    done = hocket(
        "simulate", "--machine", str(tmp_path / "lab.json"), "-n", "4,16", "--collective", "allreduce",
        "--bytes", "1M", "--placement", "cyclic", "--plot", str(picture),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "16 ring 657 ms 30 MiB 30 MiB leaf of node0: link 100% busy" in rows
    assert any("reordered" in row for row in rows)
    assert picture.read_text().lstrip().startswith("<?xml")


def test_ranks_may_be_where_a_file_says(hocket: Hocket, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("node0\nnode4\nnode0\nnode4\n")
    words = ("simulate", "--machine", "leaf:2 node:4", "--collective", "bcast", "--placement")
    done = hocket(*words, str(tmp_path / "hosts"), "-n", "4", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["ranks"] == 4
    assert "places 4 ranks, and not 5" in hocket(*words, str(tmp_path / "hosts"), "-n", "5").stderr
    assert "there are: block, cyclic, scattered, queue" in hocket(*words, "anywhere", "-n", "4").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "abacus"), "no engine named 'abacus'"),
        (("--engine", "loggp", "--jobs", "other"), "the engine loggp knows no other jobs"),
        (("--jobs", "mine"), "no word for jobs named 'mine'"),
        (("--formulas", "--plot", "a.svg"), "gather and scatter in a table, without --plot"),
        (("--root", "9"), "there is no root 9 among 4 ranks"),
        (("-n", "99"), "need 25 nodes"),
        (("--algorithm", "quickest"), "unknown algorithm 'quickest'"),
    ],
)
def test_mistakes_are_named(hocket: Hocket, words: tuple[str, ...], message: str) -> None:
    start = ("simulate", "--machine", "leaf:2 node:2 core:4", "-n", "4")
    done = hocket(*start, *words)
    assert message in done.stderr + done.stdout


@needs_simgrid
@pytest.mark.parametrize(
    ("collective", "algorithm", "word"),
    [
        ("gather", "linear", "block"),
        ("allreduce", "ring", "cyclic"),
        ("allreduce", "ring reordered", "cyclic"),
    ],
)
def test_simgrid_agrees_where_sharing_does_not_matter(collective: str, algorithm: str, word: str) -> None:
    placed, call = _placed(LAB, word, 16), Call(collective, 1 << 20)
    here, there = scale.predict(LAB, placed, call, algorithm), simgrid.predict(LAB, placed, call, algorithm)
    assert there.refusal == ""
    assert there.total == pytest.approx(here.total, rel=0.02)


@needs_simgrid
def test_other_jobs_slow_a_ring_across_leaves() -> None:
    placed, call = _placed(LAB, "cyclic", 8), Call("allgather", 65536)
    others = Others([[node for node in range(16) if node not in placed.used()]])
    alone = simgrid.predict(LAB, placed, call, "ring")
    together = simgrid.predict(LAB, placed, call, "ring", others)
    assert together.total > 1.3 * alone.total


def test_other_jobs_send_larger_messages_where_there_would_be_too_many() -> None:
    others = Others([list(range(8)), list(range(8, 12))])
    assert simgrid.bytes_of_others(LAB, others, 1e9) == 65536
    hours = 3.6e12 * 10
    sent = 12 * hours / (_per_byte * simgrid.bytes_of_others(LAB, others, hours))
    assert sent == pytest.approx(simgrid.MOST_OF_OTHERS, rel=1e-3)


def test_without_simgrid_other_jobs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simgrid, "is_there", lambda: False)
    with pytest.raises(CommandError, match="install libsimgrid-dev"):
        simgrid.check(4)


@needs_simgrid
@pytest.mark.parametrize("word", ["scattered", "queue"])
def test_other_jobs_choose_simgrid(hocket: Hocket, tmp_path: Path, word: str) -> None:
    (tmp_path / "lab.json").write_text(json.dumps({**LAB_FILE, "topology": "leaf:4 node:8"}))
    words = (
        "simulate", "--machine", str(tmp_path / "lab.json"), "-n", "8", "--ppn", "1", "--collective",
        "allgather", "--bytes", "64K", "--placement", word, "--json", "--algorithm", "ring",
    )  # fmt: skip
    alone, together = (
        json.loads(hocket(*words, *more).stdout)[0] for more in (("--engine", "simgrid"), ("--jobs", "other"))
    )
    assert alone["refusal"] == together["refusal"] == ""
    assert together["total"] > 1.02 * alone["total"]


@needs_simgrid
def test_other_jobs_beside_too_many_ranks_are_refused_with_a_way_out(hocket: Hocket) -> None:
    words = ("simulate", "--machine", "leaf:64 node:32 core:32", "--ranks", "65536")
    done = hocket(*words, "--placement", "scattered", "--jobs", "other")
    assert done.returncode == 2
    assert "up to 16384 ranks, and not 65536: take fewer, or --engine loggp" in " ".join(done.stderr.split())
    full = hocket("simulate", "--machine", "leaf:2 node:2 core:4", "-n", "16", "--jobs", "other")
    assert "16 ranks leave no two nodes of this machine to other jobs" in full.stderr


def test_scattered_ranks_of_a_large_machine(hocket: Hocket) -> None:
    done = hocket(
        "simulate", "--machine", "leaf:64 node:32 core:32", "--ranks", "65536", "--collective", "allgather",
        "--bytes", "64K", "--placement", "scattered", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {each["algorithm"]: each for each in json.loads(done.stdout)}
    assert found["bruck"]["refusal"] == ""
    assert "lie where no others lie alike" in found["ring"]["refusal"]


def test_what_every_rank_sends_over_uplinks_bends_up_beyond_a_leaf() -> None:
    """The page's picture: the first jobs on several leaves have 4096 ranks."""
    bruck = {}
    for ranks in (1024, 4096):
        placed = placement.on_nodes(list(range(ranks // 32)), ranks, 32)
        bruck[ranks] = scale.predict(_PAGE, placed, Call("allgather", 65536), "bruck").total
    assert bruck[4096] > 2.5 * 4 * bruck[1024]


@pytest.mark.slow
@needs_simgrid
def test_simgrid_has_a_thousand_ranks_and_other_jobs() -> None:
    found = batches.allocate(len(_PAGE.shape.nodes), 256, 1)
    placed = placement.on_nodes(found.own, 1024, 4)
    call, others = Call("allreduce", 65536), Others(found.others)
    flat, by_nodes = "recursive_doubling", "recursive_doubling by nodes"
    alone = [simgrid.predict(_PAGE, placed, call, each) for each in (flat, by_nodes)]
    together = simgrid.predict(_PAGE, placed, call, flat, others)
    assert {each.refusal for each in (*alone, together)} == {""}
    assert alone[1].total < alone[0].total < together.total
