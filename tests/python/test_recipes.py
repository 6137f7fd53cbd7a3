"""Recipes that follow the machine, on the command line: what is chosen, and which schedule that is."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket.bench import topology_prediction
from hocket.bench.topology_experiments import Situation
from hocket.lab import costs
from hocket.loggp import parameters
from hocket.simulate import machine, placement, scale
from hocket.simulate.scale import Call

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


def test_explain_predicts_a_recipe_and_not_its_flat_row(hocket: Hocket) -> None:
    told = hocket("explain", "allreduce", "--bytes", "1M", *_CYCLIC, HOCKET_FORCE="allreduce:ring reordered")
    assert "  by the model: ring reordered " in told.stdout
    assert "  predicted: " in told.stdout
    assert "->" not in told.stdout


def test_explain_predicts_on_the_machine(hocket: Hocket) -> None:
    """And not on nodes of 32 ranks, which is what is assumed where nothing is known of it."""
    told = " ".join(hocket("explain", "bcast", "--bytes", "64K", *_CYCLIC).stdout.split())
    assert (
        "leaf:4 node:4, parameters assumed and not measured; on 16 nodes, links that ranks share: node"
        in told
    )
    assert "not predicted: exposed, as it needs memory that ranks share" in told
    assert "of the schedules below exposed" not in told


def test_explain_takes_what_was_measured_to_the_machine(hocket: Hocket, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(parameters.DEFAULTS.network()))
    told = " ".join(hocket("explain", "bcast", *_CYCLIC, "--loggp", str(file)).stdout.split())
    assert "predictions by LogGP: default parameters, assumed and not measured; on 16 nodes" in told
    node = dataclasses.replace(parameters.DEFAULTS, levels=parameters.DEFAULTS.levels[:2])
    file.write_text(json.dumps(node.network()))
    refused = hocket("explain", "bcast", *_CYCLIC, "--loggp", str(file))
    assert refused.returncode == 2
    assert "nothing of what is between nodes" in refused.stderr


def test_explain_tells_recipes_apart_by_their_parameters(hocket: Hocket) -> None:
    forced = "alltoall:cheapest(bruck(radix=2) by nodes, bruck(radix=4) by nodes)"
    told = hocket(
        "explain", "alltoall", "-n", "32", "--topology", "leaf:4 node:4 core:2", HOCKET_FORCE=forced
    )
    assert "by the model: bruck(radix=2) by nodes " in told.stdout
    assert "by the model: bruck(radix=4) by nodes " in told.stdout


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


def test_a_width_may_be_the_last_word(hocket: Hocket) -> None:
    told = hocket("plan", "gather:linear by nodes(radix=2)", "-n", "8", "--topology", "node:2", "--rank", "0")
    assert told.returncode == 0, told.stderr
    assert "recv 2: output[2..4)" in told.stdout  # rank 2 forwards the block of rank 3


_SOCKETS = ("--topology", "node:2 socket:2 core:2")
_BY_SOCKETS = "recursive_doubling by sockets+nodes"


def test_plan_knows_the_sockets_of_nodes(hocket: Hocket) -> None:
    told = hocket("plan", f"allreduce:{_BY_SOCKETS}", "-n", "8", *_SOCKETS, "--rank", "0")
    assert told.returncode == 0, told.stderr
    peers = [line.split()[3] for line in told.stdout.splitlines() if " send " in line]
    assert peers == ["4:", "2:", "1:"]  # the other node, the other socket, the other core


def test_explain_knows_the_sockets_of_nodes(hocket: Hocket) -> None:
    forced = {"HOCKET_FORCE": "bcast:knomial by sockets"}
    assert hocket("explain", "bcast", "-n", "8", *_SOCKETS, **forced).stdout.startswith(
        "bcast: knomial by sockets\n"
    )
    without = hocket("explain", "bcast", "-n", "8", "--topology", "node:2 core:4", **forced)
    assert "forced knomial by sockets does not fit: the ranks are not in such groups" in without.stdout


def test_simulate_knows_the_sockets_of_nodes() -> None:
    found = machine.of_words("node:2 socket:2 core:2")
    placed = placement.on_nodes([0, 1], 8, 4)
    assert dict(placement.places(found.shape, placed))["package"] == [0, 0, 1, 1, 2, 2, 3, 3]
    for recipe in (_BY_SOCKETS, "ring by sockets"):
        assert not scale.predict(found, placed, Call("allreduce", 64), recipe).refusal
    segmented = scale.predict(found, placed, Call("bcast", 1 << 20), "chain(segments=8) by sockets")
    whole = scale.predict(found, placed, Call("bcast", 1 << 20), "chain(segments=1) by sockets")
    assert not segmented.refusal
    assert segmented.total < whole.total


def test_places_name_a_node_for_each_rank() -> None:
    request = ("allreduce", "ring by nodes", 4, 0, True)
    assert core.recipe_obstacle(*request, []) == "it is not known where the ranks are"
    assert core.recipe_obstacle(*request, [("node", [0, 0, 0, 0])]) == "the ranks are not in such groups"
    assert core.recipe_obstacle(*request, [("core", [0, 1, 2, 3]), ("node", [0, 0, 1, 1])]) == ""
    with pytest.raises(RuntimeError, match="places of another number of ranks"):
        core.recipe_obstacle(*request, [("node", [0, 0, 1])])


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


@pytest.mark.parametrize(
    ("recipe", "where", "requests"),
    [
        ("allreduce:ring by nodes+leaves with 2 leaders", ("--topology", "leaf:2 node:2", "--ranks", "8"), 2),
        ("reduce:knomial by nodes", ("--topology", "node:2", "--ranks", "3-5"), 3 * 3 * 2 * 2),
        (f"allreduce:{_BY_SOCKETS}", (*_SOCKETS, "--ranks", "8"), 4),
        ("alltoall:pairwise by leaves", ("--topology", "leaf:2 node:2", "--ranks", "4"), 1),
        ("gather:linear reordered", ("--topology", "leaf:2 node:2", "--ranks", "4"), 6),
        ("bcast:knomial(radix=4) in 3 segments", ("--ranks", "1-3"), (1 + 2 + 2 + 1) * 2),
        ("barrier:message_dissemination by nodes", ("--topology", "node:2 core:2"), 4),
    ],
)
def test_verify_proves_a_recipe(hocket: Hocket, recipe: str, where: tuple[str, ...], requests: int) -> None:
    told = hocket("verify", recipe, *where)
    assert told.returncode == 0, told.stdout + told.stderr
    assert " ".join(told.stdout.split()) == f"{recipe} proved for {requests} requests"


def test_verify_leaves_out_orders_that_a_recipe_does_not_keep(hocket: Hocket) -> None:
    where = ("--topology", "leaf:2 node:2", "--ranks", "4")
    told = hocket("verify", "allreduce:recursive_doubling by leaves", *where, "--placement", "cyclic")
    assert "proved for 2 requests" in told.stdout
    in_blocks = hocket("verify", "allreduce:recursive_doubling by leaves", *where)
    assert "proved for 4 requests" in in_blocks.stdout


@pytest.mark.parametrize(
    ("recipe", "where", "problem"),
    [
        ("bcast:knomial by nodes", (), "4 ranks, root 0: it is not known where the ranks are"),
        ("bcast:knomial by nodes", ("--topology", "node:4"), "root 0: the ranks are not in such groups"),
        ("bcast:knomial by racks", (), "unknown level 'racks'"),
        ("bcast:flat by nodes", (), "does not send and receive"),
        ("alltoallv:bruck by nodes", (), "bruck needs equal blocks, and those of alltoallv may differ"),
        ("bcast:native by nodes", (), "no algorithm for bcast named 'native'"),
        ("bcast:knomial by nodes", ("--topology", "node:2 core:1"), "this machine has 2"),
        ("bcast:knomial by nodes", ("--placement", "random"), "no placement named 'random'"),
    ],
)
def test_verify_says_why_a_recipe_cannot_be_followed(
    hocket: Hocket, recipe: str, where: tuple[str, ...], problem: str
) -> None:
    told = hocket("verify", recipe, "--ranks", "4", *where)
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
