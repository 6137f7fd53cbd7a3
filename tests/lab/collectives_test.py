"""Every collective between the nodes of a lab, compared with the MPI's own, or known: several nodes, ranks
on each, blocking and not, with and without a thread for messages.

usage: collectives_test.py --family FAMILY --prefix DIR --build DIR [--ranks N] [--on NODES] [--levels 3]
           NODES RANKS_PER_NODE

With fewer ranks than there is room for, nodes have different numbers of them, and with some of the nodes so
have leaves; with three levels leaves are in pods: chassis and racks, or what a site calls them. These are few
decisions each, since levels of all kinds are proved without a lab.
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
            *("alltoallv:linear by nodes+leaves", "alltoall:linear(window=1) by leaves"),
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
    Decision(
        "block",
        (
            *("alltoall:bruck(radix=2) by nodes", "alltoallv:linear(window=2)"),
            "allreduce:recursive_halving_doubling in 3 segments 2 apart reordered",
        ),
    ),
    Decision("cyclic"),
)
# What the MPI must not do where a recipe does not fit, or none is forced: tests/mpi/CMakeLists.txt says why.
UNEVEN = (
    Decision(
        "cyclic",
        (
            *("allreduce:recursive_doubling by nodes+leaves", "alltoallv:linear by nodes+leaves"),
            *("alltoall:linear by leaves", "bcast:knomial by nodes+leaves", "allgather:ring reordered"),
            *("barrier:message_dissemination by leaves", "reduce:knomial by nodes with 2 leaders"),
            *("gather:linear by nodes+leaves", "scatter:linear by leaves", "reduce_scatter:ring by nodes"),
        ),
    ),
)
PODS = (
    Decision(
        "scattered",
        (
            *("gather:linear by switches", "scatter:linear by leaves+switches", "allreduce:ring by switches"),
            *("bcast:knomial by nodes+switches", "alltoall:linear by leaves+switches"),
        ),
    ),
    Decision(
        "cyclic",
        (
            *("gather:linear by leaves+switches", "scatter:linear by switches"),
            *("allreduce:recursive_doubling by leaves+switches", "alltoallv:linear by nodes+switches"),
            *("reduce:knomial by switches", "allgather:bruck by leaves+switches"),
        ),
    ),
)
OTHERWISE = "alltoallv:pairwise,allreduce:recursive_doubling,reduce:knomial,reduce_scatter:pairwise"
SEED = "20261123"
SHAPES = {4: (2, 2), 6: (3, 2), 8: (4, 2), 16: (4, 4)}  # nodes: leaves, nodes under each

# program: its arguments after the seed, by ranks (few and many), and how it makes progress
PROGRAMS = (
    ("mpi_differential", {"few": "80", "many": "24"}, ("calls",)),
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


@dataclass(frozen=True)
class Job:
    nodes: int  # of the lab
    per_node: int
    ranks: int  # 0: as many as there is room for
    on: str  # nodes of the lab that it gets; "": all
    levels: int  # of switches

    @property
    def size(self) -> int:
        return self.ranks or self.nodes * self.per_node

    @property
    def decisions(self) -> tuple[Decision, ...]:
        if self.levels == 3:
            return PODS
        return UNEVEN if self.ranks or self.on or self.nodes == 8 else DECISIONS

    @property
    def fits_all(self) -> bool:
        """What is forced, each at least once."""
        return self.decisions is not DECISIONS or (self.nodes == 4 and self.per_node == 2)

    def shape(self) -> tuple[str, ...]:
        leaves, below = SHAPES[self.nodes]
        words = ("--leaves", str(leaves), "--nodes", str(below), "--levels", str(self.levels))
        return (*words, "--rate", "500mbit", "--uplink", "500mbit")

    def words(self) -> tuple[str, ...]:
        on = ("--on", self.on) if self.on else ()
        return ("-n", str(self.size), "--ppn", str(self.per_node), *on)

    def __str__(self) -> str:
        rest = [f"of {self.nodes} nodes {self.on}"] if self.on else []
        rest += [f"{self.levels} levels"] if self.levels > 2 else []
        return ", ".join([f"{self.size} ranks, {self.per_node} on each node", *rest])


def _run(where: RunningLab, setting: Setting, job: Job, number: int, decision: Decision) -> int:
    """A thread for messages has a turn with every other decision, which it knows nothing of; with all of them
    where everything runs."""
    cases, ran = 0, set()
    told = f"{decision.placement}, {', '.join(decision.forced)[:24] or 'by the rules'}"
    for program, lengths, ways in PROGRAMS:
        for way in ways if job.fits_all or number % 2 == 0 else ways[:1]:
            name = f"{program} on {job.size} ranks, {way}, {told}"
            length = lengths["few" if job.size <= 8 else "many"]
            words = (*job.words(), "--", setting.program(program), SEED, length)
            ran |= _one(where, setting, words, name, way, decision)
            expect(not where.ranks(program), f"{name}: no rank stays")
            cases += 1
    if job.fits_all:
        missing = _never_ran(decision, ran)
        expect(not missing, f"{told}: ran everything that is forced", f"never: {missing}; {sorted(ran)}")
    return cases


def main() -> int:
    parser = arguments()
    parser.add_argument("nodes", type=int, choices=sorted(SHAPES))
    parser.add_argument("per_node", type=int)
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--on", default="")
    parser.add_argument("--levels", type=int, default=2)
    parsed = parser.parse_args()
    setting = setting_of(parsed)
    job = Job(parsed.nodes, parsed.per_node, parsed.ranks, parsed.on, parsed.levels)
    with lab(setting, *job.shape()) as where:
        cases = [_run(where, setting, job, number, each) for number, each in enumerate(job.decisions)]
    return result(str(job), [i for n in cases for i in range(n)])


if __name__ == "__main__":
    sys.exit(main())
