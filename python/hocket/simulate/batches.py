"""Which nodes a batch system has left for a job: first come, first served, with backfill.

EASY backfill (Lifka 1995, Mu'alem and Feitelson 2001): a job that would not delay the first one of the queue
may start before it. Jobs get the free nodes with the lowest numbers, so that after a while they are
scattered over what others have left.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass

from hocket.errors import CommandError


@dataclass(frozen=True)
class Job:
    nodes: int
    hours: float  # asked for
    part: float = 1.0  # of them that it takes


# Nodes and hours of jobs that ran or waited on a machine of 4392 nodes (Theta), as its page showed in March
# 2024.
PAGE_NODES = 4392
PAGE = tuple(
    Job(nodes, hours)
    for nodes, hours in (
        (1024, 16), (840, 24), (802, 24), (640, 12), (300, 6), (256, 6), (241, 36), (128, 6), (2048, 6),
        (1024, 6), (512, 9), (128, 1), (802, 24), (1024, 9.5), (1041, 14), (840, 24), (256, 6), (256, 6),
        (520, 9), (256, 1), (832, 24), (512, 6), (512, 9), (640, 12), (409, 6), (540, 9), (718, 9), (512, 3),
    )
)  # fmt: skip


@dataclass
class _Running:
    end: float
    nodes: list[int]

    def __lt__(self, other: _Running) -> bool:
        return self.end < other.end


@dataclass(frozen=True)
class Allocation:
    own: list[int]
    others: list[list[int]]  # jobs that run meanwhile


class _Machine:
    def __init__(self, nodes: int) -> None:
        self.free = list(range(nodes))
        self.running: list[_Running] = []
        self.now = 0.0

    def start(self, job: Job) -> list[int]:
        taken, self.free = self.free[: job.nodes], self.free[job.nodes :]
        heapq.heappush(self.running, _Running(self.now + job.hours * job.part, taken))
        return taken

    def wait(self) -> None:
        """Until the next job ends."""
        ended = heapq.heappop(self.running)
        self.now = ended.end
        self.free = sorted([*self.free, *ended.nodes])

    def reservation(self, job: Job) -> tuple[float, int]:
        """When that many nodes will be free, and how many more then are."""
        free = len(self.free)
        for running in sorted(self.running):
            free += len(running.nodes)
            if free >= job.nodes:
                return running.end, free - job.nodes
        raise CommandError(f"a job of {job.nodes} nodes does not fit this machine")

    def backfill(self, queue: list[Job]) -> Job | None:
        """One that ends before the first one's reservation, or leaves enough for it."""
        when, spare = self.reservation(queue[0])
        for job in queue[1:]:
            if job.nodes <= len(self.free) and (self.now + job.hours <= when or job.nodes <= spare):
                return job
        return None


def _stream(nodes: int, seed: int, count: int) -> list[Job]:
    """Jobs as on the page, in proportion to the machine; they end before their time is over."""
    drawn = random.Random(seed)
    jobs = [drawn.choice(PAGE) for _ in range(count)]
    return [Job(max(1, job.nodes * nodes // PAGE_NODES), job.hours, drawn.uniform(0.2, 1.0)) for job in jobs]


def allocate(nodes: int, wanted: int, seed: int, before: int = 200) -> Allocation:
    """What a job of `wanted` nodes gets after so many others."""
    if not 1 <= wanted <= nodes:
        raise CommandError(f"a job of {wanted} nodes does not fit a machine of {nodes}")
    own = Job(wanted, 1.0)
    queue = [*_stream(nodes, seed, before), own, *_stream(nodes, seed + 1, before)]
    machine = _Machine(nodes)
    while True:
        job = queue[0] if queue[0].nodes <= len(machine.free) else machine.backfill(queue)
        if job is None:
            machine.wait()
            continue
        others = [running.nodes for running in machine.running]
        taken = machine.start(job)
        if job is own:
            return Allocation(taken, others)
        queue = [each for each in queue if each is not job]
