"""LogGP parameters, and predictions made from them."""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket import mpis
from hocket.catalog import Request
from hocket.errors import CommandError
from hocket.loggp import costs, parameters
from hocket.loggp.parameters import DEFAULTS, Level, Parameters, Protocol
from hocket.loggp.prediction import format_time, predict

Hocket = Callable[..., subprocess.CompletedProcess[str]]

core = pytest.importorskip("hocket._core")

ONE_LEVEL = Parameters((Level("all", 0, True, (Protocol(0, L=1000, o=200, g=300, G=0.5),)),), 0.0, 0.0)


def _request(collective: str, algorithm: str, ranks: int, **given: int) -> Request:
    return Request(collective, algorithm, ranks, 0, given)


def test_a_binomial_tree_takes_what_the_formula_says() -> None:
    found = predict(_request("bcast", "knomial", 64, radix=2, segments=1), 4001, ONE_LEVEL)
    assert found.total == 6 * (1000 + 2 * 200 + 4000 * 0.5)
    assert found.cpu == 200  # of a leaf
    assert found.mean_cpu == pytest.approx(200 * (63 + 63) / 64)


def test_segments_overlap_in_a_chain() -> None:
    whole = predict(_request("bcast", "chain", 16, segments=1), 1 << 20, ONE_LEVEL)
    pipelined = predict(_request("bcast", "chain", 16, segments=64), 1 << 20, ONE_LEVEL)
    assert pipelined.total < whole.total / 5


def test_parameters_come_back_from_their_file(tmp_path: Path) -> None:
    parameters.write(tmp_path / "some" / "loggp.json", DEFAULTS)
    assert parameters.read(tmp_path / "some" / "loggp.json") == DEFAULTS


def test_latencies_between_nodes_are_a_matrix(hocket: Hocket, tmp_path: Path) -> None:
    if not mpis.discover():
        pytest.skip("no MPI is installed")
    file = tmp_path / "latencies"
    done = hocket("loggp", "-n", "3", "--latencies", str(file), HOCKET_NODE_SIZE="1")
    if "is not installed at" in done.stderr:
        pytest.skip("the benchmarks are not built")
    assert done.returncode == 0, done.stderr
    assert file.read_text().startswith("n0 n1 n2\nn0 0.000 ")
    assert hocket("topo", str(file)).returncode == 0
    alone = hocket("loggp", "-n", "2", "--latencies", str(file), HOCKET_NODE_SIZE="2")
    assert alone.returncode == 1
    assert "all ranks are on one node" in alone.stderr


@pytest.mark.parametrize("damage", ["no json", "[]", '{"schema": "other"}', '{"schema": "hocket-loggp-1"}'])
def test_a_damaged_file_is_an_error(tmp_path: Path, damage: str) -> None:
    (tmp_path / "loggp.json").write_text(damage)
    with pytest.raises(CommandError, match="cannot read"):
        parameters.read(tmp_path / "loggp.json")


@pytest.mark.parametrize(
    ("ns", "text"), [(0, "0 ns"), (999, "999 ns"), (1500, "1.5 us"), (2.5e6, "2.5 ms"), (3e9, "3 s")]
)
def test_times_are_written_with_their_unit(ns: float, text: str) -> None:
    assert format_time(ns) == text


def test_explain_predicts_and_says_from_what(hocket: Hocket, tmp_path: Path) -> None:
    told = " ".join(hocket("explain", "bcast", "--bytes", "64K", "-n", "8").stdout.split())
    assert "predicted: " in told
    assert "waiting for the network" in told
    assert "default parameters, assumed and not measured; ranks per level: cache (8), node (32)" in told
    file = tmp_path / "loggp.json"
    parameters.write(
        file, Parameters(ONE_LEVEL.levels, 0.1, 0.2, "2026-01-02T", "a CPU", 2, "openmpi", "5.0")
    )
    told = " ".join(hocket("explain", "bcast", "-n", "8", "--loggp", str(file)).stdout.split())
    assert "by LogGP: openmpi 5.0 on a CPU, 2026-01-02, nothing was measured between nodes; ranks" in told


def test_explain_knows_when_ranks_are_on_several_nodes(hocket: Hocket) -> None:
    there = ("explain", "allreduce", "--bytes", "8", "-n", "48")
    told = " ".join(hocket(*there).stdout.split())
    assert "allreduce: left to the MPI because: allreduce across_nodes -> native" in told
    assert "the MPI's own is not predicted; of the schedules below " in told
    alone = " ".join(hocket(*there, "--ranks-per-node", "48").stdout.split())
    assert "left to the MPI" not in alone
    assert "cache (8), node (48), network (all)" in alone


def test_nodes_of_another_size_hold_whole_groups() -> None:
    assert [level.ranks for level in DEFAULTS.with_nodes_of(12).levels] == [4, 12, 0]
    assert DEFAULTS.with_nodes_of(12).across_nodes(13)
    assert not DEFAULTS.with_nodes_of(12).across_nodes(12)
    with pytest.raises(CommandError, match="do not hold both"):
        ONE_LEVEL.with_nodes_of(12)


def test_explain_answers_for_a_hundred_thousand_ranks(hocket: Hocket) -> None:
    started = time.monotonic()
    told = " ".join(hocket("explain", "allgather", "--bytes", "8", "-n", "100000").stdout.split())
    assert time.monotonic() - started < 60  # seconds on an idle machine
    assert "not predicted: flat, as it needs memory that ranks share" in told
    refused = " ".join(hocket("explain", "bcast", "--bytes", "8", "-n", "100000").stdout.split())
    assert "not predicted: scatter_allgather, as about 4.0e+10 ops on 100000 ranks are too many" in refused


def _lab_machine() -> Parameters:
    def level(name: str, shared_memory: bool, latency: float, per_byte: float) -> Level:
        eager = Protocol(0, L=latency, o=400, g=500, G=per_byte)
        return Level(
            name, 0, shared_memory, (eager, Protocol(65536, L=2 * latency, o=900, g=500, G=per_byte / 2)),
            1.0 if shared_memory else 1.25,
        )  # fmt: skip

    links = {
        "node": {"rate": "100mbit", "efficiency": 0.5},
        "leaf": {"rate": "200mbit", "efficiency": 0.5},
    }
    levels = (
        level("node", True, 600, 0.2),
        level("leaf", False, 20_000, 90.0),
        level("all", False, 5e5, 90.0),
    )
    return Parameters(levels, 0.0, 0.0, topology="leaf:2 node:2", links=links)


def test_costs_name_the_levels_and_the_rates_of_links(tmp_path: Path) -> None:
    file = tmp_path / "my.costs"
    costs.write(file, _lab_machine())
    lines = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    assert [line[0] for line in lines] == ["node", "leaf", "switches"]
    assert [float(line[1]) for line in lines] == [0.6, 20.0, 500.0]
    assert {float(line[2]) for line in lines} == {0.4}
    assert [float(line[3]) for line in lines] == pytest.approx([0.1024, 163.84, 81.92])
    assert [float(line[4]) for line in lines] == pytest.approx([0.1024, 1.25 * 163.84, 1.25 * 81.92])
    places = [("node", [0, 1, 2, 3]), ("leaf", [0, 0, 1, 1])]
    ring = core.cost("allgather", "ring", places, file.read_text())
    assert ring[1] == pytest.approx(3 * 1.25 * 163.84 / 1024)
    found = core.cost("gather", "linear", places, file.read_text())
    assert found[1] == pytest.approx(3 * 163.84 / 1024)


def test_costs_need_a_network() -> None:
    near = dataclasses.replace(DEFAULTS, levels=DEFAULTS.levels[:2])
    with pytest.raises(CommandError, match="between nodes"):
        costs.text(near)
    assert [line.split()[0] for line in costs.text(DEFAULTS).splitlines()[2:]] == ["node", "leaf"]
