"""Every collective between the nodes of a lab, compared with the MPI's own, or known: several nodes, ranks
on each, blocking and not, with and without a thread for messages.

usage: collectives_test.py --family FAMILY --prefix DIR --build DIR NODES RANKS_PER_NODE
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hocket import reports
from in_lab import RunningLab, Setting, arguments, expect, lab, result, setting_of


@dataclass(frozen=True)
class Decision:
    """What Hocket is to run, and where the job's ranks are. A new kind of decision is a new value here."""

    placement: str
    forced: tuple[str, ...] = ()  # else what the rules say


DECISIONS = (
    Decision(
        "block",
        (
            *("allreduce:ring", "bcast:knomial", "barrier:message_dissemination", "reduce:knomial"),
            *("gather:linear", "scatter:linear", "allgather:ring", "alltoall:linear"),
            *("reduce_scatter:pairwise", "scan:recursive_doubling", "exscan:recursive_doubling"),
        ),
    ),
    Decision(
        "scattered",
        (
            *("allreduce:recursive_doubling", "bcast:chain", "barrier:message_dissemination"),
            *("reduce:knomial", "gather:knomial", "scatter:knomial", "allgather:bruck", "alltoall:bruck"),
            "reduce_scatter:ring",
        ),
    ),
    Decision(
        "cyclic",
        (
            "allreduce:cheapest(recursive_doubling by nodes+leaves,ring by leaves in 4 segments)",
            *("alltoallv:linear by nodes+leaves", "alltoall:linear by leaves"),
            *("bcast:knomial by nodes+leaves", "barrier:message_dissemination by leaves"),
            *("reduce:knomial reordered", "gather:linear by leaves", "scatter:linear by nodes+leaves"),
            *("allgather:ring reordered", "reduce_scatter:pairwise by nodes+leaves"),
        ),
    ),
    Decision(
        "scattered",
        (
            "allreduce:ring by nodes with 2 leaders",
            *("alltoallv:linear by nodes", "alltoall:dimension_exchange(radix=4) by nodes"),
            *("bcast:knomial by nodes+switches", "reduce:knomial by nodes with 2 leaders in 3 segments"),
            *("allgather:bruck by nodes", "gather:knomial by nodes", "scatter:knomial by leaves"),
        ),
    ),
    Decision("block", ("alltoall:bruck(radix=2) by nodes", "allreduce:ring reordered")),
    Decision("cyclic"),
)
# What the MPI must not do where a recipe does not fit, or none is forced: tests/mpi/CMakeLists.txt says why.
OTHERWISE = "alltoallv:pairwise,allreduce:recursive_doubling,reduce:knomial,reduce_scatter:pairwise"
SEED = "20261123"
SHAPES = {4: (2, 2), 6: (3, 2), 8: (2, 4), 16: (4, 4)}  # nodes: leaves, nodes under each

# program: its arguments after the seed, by ranks (few and many), and how it makes progress
PROGRAMS = (
    ("mpi_differential", {"few": "120", "many": "24"}, ("calls",)),
    ("mpi_nonblocking_random", {"few": "12", "many": "3"}, ("calls", "thread")),
)


def _names(recipe: str) -> set[str]:
    """As reports name it, without parameters; any of those that the model chooses from."""
    of_model = re.fullmatch(r"cheapest\((.*)\)", recipe)
    each = of_model[1].split(",") if of_model else [recipe]
    return {re.sub(r"\([^)]*\)", "", one).strip() for one in each}


def _never_ran(decision: Decision, ran: set[tuple[str, str]]) -> list[str]:
    """Of an i-form, a v-form or a persistent call it counts as well."""
    missing = []
    for text in decision.forced:
        collective, _, recipe = text.partition(":")
        like = re.compile(rf"i?{collective}[a-z_]*")
        if not any(like.fullmatch(name) and algorithm in _names(recipe) for name, algorithm in ran):
            missing.append(text)
    return missing


def _one(
    where: RunningLab, setting: Setting, words: tuple[str, ...], name: str, way: str, decision: Decision
) -> set[tuple[str, str]]:
    """The collectives and algorithms that its report names."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"
        done = where.run(
            *("--placement", decision.placement, *words),
            seconds=60,
            HOCKET_FORCE=",".join((*decision.forced, OTHERWISE)),
            HOCKET_PROGRESS=way,
            HOCKET_REPORT=str(report),
            TEST_REQUIRES_HOCKET="1",
        )
        expect(done.status == 0, f"{name}: status {done.status}", done.output)
        print(f"{name}: {done.seconds:.1f} s", flush=True)
        rows = reports.read(report).rows if report.exists() else []
    return {(row.collective, row.algorithm) for row in rows}


def _run(where: RunningLab, setting: Setting, ranks: int, decision: Decision, fits_all: bool) -> int:
    cases, ran = 0, set()
    told = f"{decision.placement}, {', '.join(decision.forced)[:24] or 'by the rules'}"
    for program, lengths, ways in PROGRAMS:
        for way in ways:
            name = f"{program} on {ranks} ranks, {way}, {told}"
            length = lengths["few" if ranks <= 8 else "many"]
            words = ("-n", str(ranks), "--", setting.program(program), SEED, length)
            ran |= _one(where, setting, words, name, way, decision)
            expect(not where.ranks(program), f"{name}: no rank stays")
            cases += 1
    if fits_all:
        missing = _never_ran(decision, ran)
        expect(not missing, f"{told}: ran everything that is forced", f"never: {missing}; {sorted(ran)}")
    return cases


def main() -> int:
    parser = arguments()
    parser.add_argument("nodes", type=int, choices=sorted(SHAPES))
    parser.add_argument("per_node", type=int)
    parsed = parser.parse_args()
    setting = setting_of(parsed)
    leaves, below = SHAPES[parsed.nodes]
    shape = ("--leaves", str(leaves), "--nodes", str(below), "--rate", "500mbit", "--uplink", "500mbit")
    with lab(setting, *shape) as where:
        ranks, fits_all = parsed.nodes * parsed.per_node, parsed.nodes == 4 and parsed.per_node == 2
        cases = [_run(where, setting, ranks, each, fits_all) for each in DECISIONS]
    return result(
        f"{parsed.nodes} nodes, {parsed.per_node} ranks on each", [i for n in cases for i in range(n)]
    )


if __name__ == "__main__":
    sys.exit(main())
