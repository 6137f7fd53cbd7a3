"""Bytes on the links of nodes, one way and the other: counted by the lab, and as many as there have to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocket.bench import machine, net
from hocket.bench.jsonl import Kind
from hocket.bench.net import Job, Placed
from hocket.bench.net_experiments import Situation, is_aggregated
from hocket.bench.topology_uplinks import payload, per_call
from hocket.lab.statistics import Link
from hocket.mpis import Mpi

ENDING = "-bytes"  # of the file for its records
TARGET = 0.02  # of the vector
_little = 8


@dataclass(frozen=True)
class Traffic(Placed):
    """Of one call, without headers: on the link of the node that sends the most, or gets the most."""

    up_bytes: float  # away from the node
    down_bytes: float
    link: str = ""  # machine.link()
    schema: str = "hocket-net-bytes-1"

    def off(self) -> float:
        """By which share of the vector the way that is further off is."""
        return max(abs(way / self.bytes - 1) for way in (self.up_bytes, self.down_bytes))


TRAFFIC = Kind(Traffic, net.refusal)


def busiest(links: Iterable[Link], at: Situation) -> tuple[int, int]:
    """Payload up and down, each of the node that has the most."""
    nodes = {f"n{number}" for number in range(at.nodes)}
    some = [link for link in links if link.lower in nodes]
    return max(payload(link.up) for link in some), max(payload(link.down) for link in some)


def _counted(mpi: Mpi, job: Job, size: int) -> tuple[int, int]:
    done = net.reported(mpi, job.with_sizes(size), 0, net.VALIDATE_ONLY)
    if done.problem:
        raise done.problem
    return busiest(done.links, job.situation)


def count(mpi: Mpi, job: Job, keep: net.Keep) -> None:
    """Of the job's last side, alone: links cannot tell two apart."""
    for size in job.sizes:
        load = machine.load()
        much, little = (_counted(mpi, job, each) for each in (size, _little))
        up, down = (round(per_call(a, b, size), 1) for a, b in zip(much, little, strict=True))
        fields = net.where_and_what(mpi, load, job, job.sides()[-1])
        keep([Traffic(**fields, bytes=size, up_bytes=up, down_bytes=down)])


def latest(found: Iterable[Traffic]) -> Sequence[Traffic]:
    """Of several counts of one thing the last one counts."""
    return list({
        (one.mpi, one.situation(), one.collective, one.bytes, one.side, one.streaming): one for one in found
    }.values())  # fmt: skip


def ring(one: Traffic) -> float:
    """What a ring among as many nodes sends up from each, and as much down."""
    return 2 * one.bytes * (one.nodes - 1) / one.nodes


def is_judged(one: Traffic) -> bool:
    return is_aggregated(one.side.partition(":")[2])
