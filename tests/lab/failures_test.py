"""What a job says when one of its nodes dies, or a link is cut, while Hocket's collectives run between its
nodes: every rank that is still there names what has gone, soon after the stall limit, and ends.

The launchers wait for the daemon that they cannot reach; here they are ended once the ranks have. Open MPI's
ranks on a node that is cut off from its launcher are not looked at.

usage: failures_test.py --family FAMILY --prefix DIR --build DIR
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass

from in_lab import Setting, arguments, expect, lab, result, setting_of, until

STALL_SECONDS = 3
MOST_SECONDS = 12  # of the stall limit, its proof, and the others' hearing of it, on a busy machine
NODES = ("n0", "n1", "n2", "n3")
FLAT = "allreduce:ring,alltoall:linear,bcast:knomial,barrier:message_dissemination"
BY_LEVELS = "allreduce:recursive_doubling by nodes+leaves,alltoall:bruck by nodes"


@dataclass(frozen=True)
class Case:
    verb: str
    what: str
    lost: tuple[str, ...]  # nodes
    collective: str
    bytes: int  # of a vector, or a block
    per_node: int
    returned: bool  # errors are, to the program
    decisions: str = FLAT


CASES = (
    Case("kill", "n3", ("n3",), "allreduce", 65536, 1, False),
    Case("kill", "n1", ("n1",), "alltoall", 16384, 2, True),
    Case("cut", "n3", ("n3",), "allreduce", 65536, 2, True),
    Case("cut", "leaf1", ("n2", "n3"), "iallreduce", 262144, 1, True),
    Case("kill", "n3", ("n3",), "allreduce", 65536, 2, False, BY_LEVELS),
    Case("kill", "n2", ("n2",), "alltoall", 256, 2, False, BY_LEVELS),
)


def named(output: str) -> list[int]:
    """Ranks of the job that were said to be gone."""
    return [int(n) for n in re.findall(r"\(rank (\d+) of the job[^)]*\) does not answer any more", output)]


def _case(setting: Setting, case: Case) -> None:
    name = f"{case.verb} {case.what}, {case.collective}, {case.per_node} on each node, {case.decisions[:24]}"
    program = setting.program("lab_looping")
    lost = {NODES.index(node) * case.per_node + i for node in case.lost for i in range(case.per_node)}
    ended_after: list[float] = []

    with lab(setting) as where:

        def happen() -> None:
            began = time.monotonic()
            done = where.do(case.verb, case.what)
            expect(done.status == 0, f"{name}: {case.verb}", done.output)
            left = [node for node in NODES if node not in case.lost]
            gone = until(lambda: not where.ranks(program, left), STALL_SECONDS + MOST_SECONDS)
            ended_after.append(time.monotonic() - began)
            expect(gone, f"{name}: all ranks end")

        ended = where.run_beside(
            happen,
            "under way",
            *("-n", str(len(NODES) * case.per_node), "--"),
            *(program, case.collective, str(case.bytes), "60"),
            *(("returned",) if case.returned else ()),
            seconds=30,
            HOCKET_FORCE=case.decisions,
            HOCKET_STALL_SECONDS=str(STALL_SECONDS),
            HOCKET_PROGRESS="thread" if case.collective == "iallreduce" else "calls",
        )
        # Open question: with a link cut under Open MPI, some ranks were seen to end without a word.
        all_judged = case.returned and not (case.verb == "cut" and setting.family == "openmpi")
        _judge(name, ended.output, lost, len(NODES) * case.per_node, all_judged)
        print(f"{name}: ranks ended after {ended_after[0]:.1f} s", flush=True)


def _judge(name: str, output: str, lost: set[int], ranks: int, returned: bool) -> None:
    expect("under way" in output, f"{name}: it ran", output)
    told = named(output)
    expect(bool(told), f"{name}: what has gone is named", output)
    expect(set(told) <= lost, f"{name}: and nobody else", output)
    expect(
        bool(re.search(r"nor does 10\.77\.\d+\.\d+ acknowledge data; waited \d+ s", output)),
        f"{name}: where, how long",
        output,
    )
    expect(
        bool(re.search(r"MPI_I?[Aa]ll(reduce|toall)\(\d+ bytes", output)), f"{name}: the collective", output
    )
    if returned:  # the default handler ends the job at the first error, which may come before the others
        for rank in set(range(ranks)) - lost:
            expect(f"rank {rank}: error: " in output, f"{name}: rank {rank} gets an error", output)


def main() -> int:
    setting = setting_of(arguments().parse_args())
    for case in CASES:
        _case(setting, case)
    return result("failures", CASES)


if __name__ == "__main__":
    sys.exit(main())
