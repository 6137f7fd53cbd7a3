"""Schedules exported in GOAL: well formed, and as fast as the simulated executor says."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import goal_interpreter as goal
import pytest
from hocket.catalog import Request
from hocket.loggp.parameters import Level, Parameters, Protocol

Hocket = Callable[..., subprocess.CompletedProcess[str]]

core = pytest.importorskip("hocket._core")

PROTOCOL = Protocol(0, L=1000, o=200, g=300, G=0.5)
MACHINES = (PROTOCOL, replace(PROTOCOL, O=0.25), replace(PROTOCOL, o=500, O=0.75))
TWO_SIDED = [row for row in core.catalog() if row["access"] == "two_sided"]


def _machine(protocol: Protocol) -> dict[str, Any]:
    return Parameters((Level("all", 0, True, (protocol,)),), copy=1, reduce=2).network()


def _exported(request: Request, size: int) -> dict[goal.Node, goal.Op]:
    ranks = (core.goal(*request, size, _machine(PROTOCOL), rank) for rank in range(request.ranks))
    return goal.parse(f"num_ranks {request.ranks}\n" + "".join(ranks))


@pytest.mark.parametrize("row", TWO_SIDED, ids=lambda row: f"{row['collective']}-{row['name']}")
@pytest.mark.parametrize("ranks", [2, 5, 8, 19])
@pytest.mark.parametrize("size", [8, 5000])
def test_an_independent_interpreter_finds_the_same_times(row: dict[str, Any], ranks: int, size: int) -> None:
    presets = {parameter["name"]: parameter["preset"] for parameter in row["parameters"]}
    root = ranks - 1 if row["collective"] in ("bcast", "reduce", "gather", "scatter") else 0
    request = Request(row["collective"], row["name"], ranks, root, presets)
    if not core.fits(*request):
        pytest.skip(f"does not fit {ranks} ranks")
    ops = _exported(request, size)
    goal.check_acyclic(ops)
    for protocol in MACHINES:
        ends = goal.Interpreter(ops, protocol).run()
        predicted = core.simulate(*request, size, _machine(protocol))["finish"]
        assert [ends.get(rank, 0.0) for rank in range(ranks)] == pytest.approx(predicted)


def test_plan_prints_all_ranks(hocket: Hocket) -> None:
    told = hocket("plan", "allreduce:ring", "-n", "4", "--goal", "--bytes", "4K")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("num_ranks 4\n\nrank 0 {\nl1: send 1024b to 1 tag 0\n")
    assert len(goal.pairs(goal.parse(told.stdout))) == 2 * 3 * 4


def test_shared_memory_cannot_be_said(hocket: Hocket) -> None:
    refused = hocket("plan", "barrier:flat", "--goal")
    assert refused.returncode == 2
    assert "GOAL knows messages only" in refused.stderr


def test_held_messages_cannot_be_said(hocket: Hocket) -> None:
    refused = hocket("plan", "alltoall:linear(window=2)", "--goal")
    assert refused.returncode == 2
    assert "GOAL cannot hold a send" in refused.stderr
