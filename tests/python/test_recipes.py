"""Recipes that follow the machine, on the command line: what is chosen, and which schedule that is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from hocket.bench import topology_prediction
from hocket.bench.topology_experiments import Situation
from hocket.lab import costs

Hocket = Callable[..., subprocess.CompletedProcess[str]]

core = pytest.importorskip("hocket._core")

_FORCED = "allreduce:cheapest(ring, ring reordered, recursive_doubling by leaves)"
_CYCLIC = ("-n", "16", "--topology", "leaf:4 node:4", "--placement", "cyclic")


def test_explain_says_what_the_model_has_compared(hocket: Hocket) -> None:
    small = hocket("explain", "allreduce", "--bytes", "8", *_CYCLIC, "--show", "0", HOCKET_FORCE=_FORCED)
    assert small.returncode == 0, small.stderr
    assert small.stdout.startswith("allreduce: recursive_doubling by leaves\n")
    assert small.stdout.count("by the model: ") == 3
    assert "schedule allreduce ranks 16 rank 0" in small.stdout
    large = hocket("explain", "allreduce", "--bytes", "16M", *_CYCLIC, HOCKET_FORCE=_FORCED)
    assert large.stdout.startswith("allreduce: ring")


def test_explain_obeys_the_costs_of_a_file(hocket: Hocket, tmp_path: object) -> None:
    told = hocket("explain", "allreduce", *_CYCLIC, HOCKET_FORCE=_FORCED, HOCKET_COSTS=f"{tmp_path}/none")
    assert told.returncode == 2
    assert "the costs file" in told.stderr


def test_explain_says_what_does_not_fit(hocket: Hocket) -> None:
    forced = "gather:cheapest(linear by nodes, linear by leaves)"
    told = hocket("explain", "gather", *_CYCLIC, HOCKET_FORCE=forced)
    assert "does not fit: linear by nodes" in told.stdout  # a rank on each


def test_plan_prints_the_schedule_of_a_recipe(hocket: Hocket) -> None:
    told = hocket("plan", "gather:linear by leaves", "-n", "4", "--topology", "leaf:2 node:2", "--rank", "0")
    assert told.returncode == 0, told.stderr
    assert "recv 1: output[1..2)" in told.stdout
    assert "recv 2: output[2..4)" in told.stdout


@pytest.mark.parametrize(
    ("recipe", "problem"),
    [
        ("gather:linear by racks", "unknown level 'racks'"),
        ("gather:linear by leaves", "does not fit these ranks"),
        ("gather:flat by leaves", "does not send and receive"),
    ],
)
def test_plan_says_what_is_wrong_with_a_recipe(hocket: Hocket, recipe: str, problem: str) -> None:
    told = hocket("plan", recipe, "-n", "4")
    assert told.returncode == 2
    assert problem in told.stderr


def test_a_placement_must_be_known(hocket: Hocket) -> None:
    told = hocket("explain", "gather", "-n", "4", "--topology", "leaf:2 node:2", "--placement", "random")
    assert told.returncode == 2
    assert "block" in told.stderr


def test_the_model_counts_what_shares_an_uplink() -> None:
    at = Situation(placement="cyclic")
    near, far = (
        core.cost("allreduce", recipe, topology_prediction.places(at), costs.text(at.shape()))
        for recipe in ("ring reordered", "ring")
    )
    assert near and far
    assert far[1] == pytest.approx(4 * near[1])
    alone = topology_prediction.places(at)
    assert core.cost("gather", "linear by nodes", alone, "node 1 1 1\nleaf 1 1 1") is None
