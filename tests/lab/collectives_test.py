"""Every collective between the nodes of a lab, compared with the MPI's own, or known: several nodes, ranks
on each, blocking and not, with and without a thread for messages.

usage: collectives_test.py --family FAMILY --prefix DIR --build DIR NODES RANKS_PER_NODE
"""

from __future__ import annotations

import sys

from in_lab import RunningLab, Setting, arguments, expect, lab, result, setting_of

# What Hocket runs across nodes, one HOCKET_FORCE a line. A new kind of decision is a new line here.
DECISIONS = (
    "allreduce:ring,bcast:knomial,barrier:message_dissemination,reduce:knomial,gather:linear,scatter:linear,"
    "allgather:ring,alltoall:linear,reduce_scatter:pairwise,scan:recursive_doubling,exscan:recursive_doubling",
    "allreduce:recursive_doubling,bcast:chain,barrier:message_dissemination,reduce:knomial,gather:knomial,"
    "scatter:knomial,allgather:bruck,alltoall:bruck,reduce_scatter:ring,scan:chain,exscan:chain",
    "alltoallv:linear by nodes+leaves,"
    "allreduce:cheapest(recursive_doubling by nodes+leaves,ring by leaves in 4 segments),"
    "bcast:knomial by nodes+leaves,barrier:message_dissemination by leaves,reduce:knomial reordered,"
    "gather:linear by leaves,scatter:linear by nodes+leaves,allgather:ring reordered,"
    "alltoall:linear by leaves,reduce_scatter:pairwise by nodes+leaves",
)
SEED = "20261123"
SHAPES = {4: (2, 2), 6: (3, 2), 8: (2, 4), 16: (4, 4)}  # nodes: leaves, nodes under each

# program: its arguments after the seed, by ranks (few and many), and how it makes progress
PROGRAMS = (
    ("mpi_differential", {"few": "120", "many": "24"}, ("calls",)),
    ("mpi_nonblocking_random", {"few": "12", "many": "3"}, ("calls", "thread")),
)


def _run(where: RunningLab, setting: Setting, ranks: int, decisions: str) -> int:
    cases = 0
    for program, lengths, ways in PROGRAMS:
        for way in ways:
            name = f"{program} on {ranks} ranks, {way}, {decisions[:24]}"
            length = lengths["few" if ranks <= 6 else "many"]
            done = where.run(
                *("-n", str(ranks), "--", setting.program(program), SEED, length),
                seconds=60,
                HOCKET_FORCE=decisions,
                HOCKET_PROGRESS=way,
                TEST_REQUIRES_HOCKET="1",
            )
            expect(done.status == 0, f"{name}: status {done.status}", done.output)
            expect(not where.ranks(program), f"{name}: no rank stays", done.output)
            print(f"{name}: {done.seconds:.1f} s", flush=True)
            cases += 1
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
        cases = [_run(where, setting, parsed.nodes * parsed.per_node, each) for each in DECISIONS]
    return result(
        f"{parsed.nodes} nodes, {parsed.per_node} ranks on each", [i for n in cases for i in range(n)]
    )


if __name__ == "__main__":
    sys.exit(main())
