"""LogGP parameters of a lab, level by level: a pair of ranks on one node, under one leaf, under one pod, and
across them all; with the topology and the links, the file is a machine for `hocket simulate`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from hocket import launch, processes
from hocket.bench.program import loggp_program
from hocket.errors import CommandError
from hocket.lab import costs, quantities, state
from hocket.lab.lab import Lab
from hocket.loggp import measure
from hocket.loggp.measure import Measured
from hocket.loggp.parameters import Level
from hocket.mpis import Mpi

_bound_seconds = 600.0


@dataclass(frozen=True)
class Pair:
    level: str
    nodes: tuple[str, ...]  # one or two


def pairs(lab: Lab) -> list[Pair]:
    """The nearest pair of each level, from the inside out."""
    nodes = lab.tree.nodes()
    first, leaf = nodes[0], nodes[0].parent
    pod = lab.tree.named(leaf).parent
    found: dict[str, tuple[str, ...]] = {"node": (first.name,)}
    for other in nodes[1:]:
        same_pod = lab.shape.levels == 3 and lab.tree.named(other.parent).parent == pod
        level = "leaf" if other.parent == leaf else "pod" if same_pod else "all"
        found.setdefault(level, (first.name, other.name))
    return [Pair(level, found[level]) for level in ("node", "leaf", "pod", "all") if level in found]


def job(lab: Lab, mpi: Mpi, where: Sequence[str], *program: str) -> processes.Finished:
    """Of the MPI alone."""
    command = [
        *(sys.executable, "-m", "hocket", "lab", "run", "--name", lab.name, "--no-hocket", "-q"),
        *("--mpi", mpi.name, *where, "--", *program),
    ]
    return processes.run_captured(command, launch.environment(mpi), _bound_seconds)


def _lines(lab: Lab, mpi: Mpi, pair: Pair, most_bytes: int) -> Sequence[str]:
    where = ["--on", ",".join(pair.nodes), "-n", "2", "--ppn", str(2 // len(pair.nodes))]
    done = job(lab, mpi, where, str(loggp_program(mpi.family)), str(most_bytes))
    if done.status != 0:
        last = (done.errors + done.output).strip().splitlines()[-1:]
        raise CommandError(f"level {pair.level} could not be measured in the lab: {' '.join(last)}", 1)
    return done.output.splitlines()


def _words(lab: Lab) -> str:
    shape = lab.shape
    if shape.levels == 3:
        if shape.leaves % shape.pods:
            raise CommandError("the pods of this lab differ in size")
        return f"pod:{shape.pods} leaf:{shape.leaves // shape.pods} node:{shape.nodes}"
    return f"leaf:{shape.leaves} node:{shape.nodes}"


def _links(lab: Lab) -> dict[str, dict[str, object]]:
    efficiency = round(costs.efficiency(lab.shape.latency_us), 3)
    rates = {"node": lab.shape.rate, "leaf": lab.shape.uplink, "pod": lab.shape.core}
    return {
        name: {"rate": quantities.format_rate(rates[name]), "efficiency": efficiency}
        for name in ("node", "leaf", *(("pod",) if lab.shape.levels == 3 else ()))
    }


def run(name: str, mpi: Mpi, most_bytes: int) -> Measured:
    lab = state.get(name)
    wanted = pairs(lab)
    if wanted[-1].level != "all":
        raise CommandError("a lab of one leaf has no levels to tell apart")
    levels: list[Level] = []
    errors: dict[str, float] = {}
    measured = None
    for pair in wanted:
        measured = measure.of_lines(mpi.name, mpi.version(), _lines(lab, mpi, pair, most_bytes))
        farthest = measured.parameters.levels[-1]
        levels.append(dataclasses.replace(farthest, name=pair.level, ranks=0))
        errors[pair.level] = measured.errors[farthest.name]
    assert measured
    whole = dataclasses.replace(
        measured.parameters, levels=tuple(levels), topology=_words(lab), links=_links(lab)
    )
    return Measured(whole, errors)
