"""MPI jobs in a lab: who runs where, and the command line."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket import _paths, processes
from hocket.errors import CommandError, unknown
from hocket.lab import aggregation, cards, costs, faults, launchers, machine, naps, slurm, visible
from hocket.lab.lab import Lab
from hocket.lab.tree import Tree
from hocket.mpis import Mpi

PLACEMENTS = ("block", "cyclic", "scattered")
SCATTER_SEED = 2026


@dataclass(frozen=True)
class Wanted:
    """What the user asked for; zeros and empty words stand for what fits."""

    ranks: int = 0
    per_node: int = 0
    on: str = ""
    placement: str = "block"
    by_slurm: bool = False  # instead of the MPI's own launcher and the remote shell


def _cyclic(machines: Tree, nodes: list[str]) -> list[str]:
    """One node of each leaf in turn."""
    columns: dict[str, list[str]] = {}
    for name in nodes:
        columns.setdefault(machines.named(name).parent, []).append(name)
    longest = max(map(len, columns.values()))
    return [column[i] for i in range(longest) for column in columns.values() if i < len(column)]


def ordered(machines: Tree, nodes: list[str], placement: str) -> list[str]:
    """In which a job gets them."""
    if placement not in PLACEMENTS:
        raise unknown("placement", placement, PLACEMENTS)
    if placement == "cyclic":
        return _cyclic(machines, nodes)
    if placement == "scattered":
        return random.Random(SCATTER_SEED).sample(nodes, len(nodes))
    return nodes


def place(lab: Lab, wanted: Wanted) -> tuple[int, launchers.Placement]:
    """The number of ranks, and the nodes that they need."""
    nodes = ordered(lab.tree, faults.choose_nodes(lab, wanted.on), wanted.placement)
    ranks = wanted.ranks or len(nodes) * (wanted.per_node or 1)
    per_node = wanted.per_node or -(-ranks // len(nodes))
    needed = -(-ranks // per_node)
    if needed > len(nodes):
        raise CommandError(
            f"{ranks} ranks with {per_node} on a node need {needed} nodes, and there are {len(nodes)}"
        )
    return ranks, launchers.Placement(tuple(nodes[:needed]), per_node)


def new_file(lab: Lab, name: str, text: str = "") -> str:
    """On the lab's own file system, which goes with it; jobs at the same time have files of their own."""
    script = 'file=$(mktemp "$0") && cat > "$file" && echo "$file"'
    return lab.answer("sh", "-c", script, str(machine.FOLDER / f"{name}.XXXXXXXX"), text=text).strip()


def _check_slurm(lab: Lab, wanted: Wanted) -> None:
    if not lab.has_slurm:
        raise CommandError(f"lab '{lab.name}' was made without --slurm")
    if wanted.placement != "block":
        raise CommandError("Slurm places ranks in blocks; --placement is for jobs without --slurm")


def _launch(
    lab: Lab, mpi: Mpi, wanted: Wanted, ranks: int, placement: launchers.Placement
) -> tuple[list[str], dict[str, str]]:
    """The command line but for the program, and variables that it needs."""
    if wanted.by_slurm:
        _check_slurm(lab, wanted)
        return slurm.command(mpi, ranks, placement), slurm.environment()
    hosts = new_file(lab, "hosts", launchers.host_file(mpi, placement))
    return launchers.command(mpi, lab.remote_shell, hosts, ranks, placement.per_node), {}


def _napping(program: Sequence[str], ranks: int) -> list[str]:
    """With a library in front that lets ranks which wait leave their core: see src/lab/yield.c."""
    library = _paths.library("lab")
    if not library.exists():
        raise CommandError(f"{library} is missing; 'make build' or 'pip install .' puts it there", 1)
    preloaded = [*filter(None, [os.environ.get("LD_PRELOAD")]), str(library)]
    nap = f"{naps.VARIABLE}={os.environ.get(naps.VARIABLE) or naps.nap_us(ranks)}"
    return ["env", f"LD_PRELOAD={':'.join(preloaded)}", nap, *program]


def _not_set(presets: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in presets.items() if name not in os.environ}


def _of_services(lab: Lab) -> dict[str, str]:
    """Where jobs find what the lab's cards and switches do for them."""
    of_cards = cards.environment() if lab.tree.cards else {}
    return {**of_cards, **(aggregation.environment() if lab.shape.aggregates else {})}


def _prepared(
    lab: Lab, mpi: Mpi, wanted: Wanted, program: Sequence[str], variables: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The whole command line, and its environment."""
    more: list[str | Path] = [
        mpi.launcher,
        *(variables[name] for name in variables if "/" in variables[name]),
    ]
    visible.make_report()
    visible.make(lab, visible.of_job(program, more))
    ranks, placement = place(lab, wanted)
    start, settings = _launch(lab, mpi, wanted, ranks, placement)
    if "HOCKET_TOPOLOGY" not in os.environ:
        if not wanted.by_slurm:  # which tells its tasks itself
            variables.setdefault("HOCKET_TOPOLOGY", new_file(lab, "topology", lab.tree.as_rack_file()))
        if "HOCKET_COSTS" not in os.environ:
            variables.setdefault("HOCKET_COSTS", new_file(lab, "costs", costs.text(lab.shape)))
    variables = {**_not_set(_of_services(lab)), **variables}
    environment = {**launchers.environment(mpi, lab.remote_shell, **variables), **settings}
    return lab.on_head(*start, *_napping(program, ranks)), environment


def run(lab: Lab, mpi: Mpi, wanted: Wanted, program: Sequence[str], **variables: str) -> int:
    """Attached to this terminal; the status of the program."""
    return processes.run_attached(*_prepared(lab, mpi, wanted, program, variables))


def run_captured(
    lab: Lab, mpi: Mpi, wanted: Wanted, program: Sequence[str], seconds: float, **variables: str
) -> processes.Finished:
    """At most so long."""
    return processes.run_captured(*_prepared(lab, mpi, wanted, program, variables), seconds)
