"""Bytes on the busiest uplink: counted by the lab's links, and as many as a schedule has to send there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hocket.bench import machine, topology, topology_plan, topology_prediction
from hocket.bench.topology import Job, Run
from hocket.bench.topology_experiments import Experiment
from hocket.core import core
from hocket.lab.statistics import Counted, Link
from hocket.mpis import Mpi

_header = 66  # of a packet on the wire: Ethernet 14, IP 20, TCP 20 and its time stamps 12
_calls = 18  # of the benchmark with --validate-only and no time: 3 that are checked, 15 that warm up
_little = 8


def payload(counted: Counted) -> int:
    """An acknowledgement has none."""
    return counted.bytes - _header * counted.packets


def busiest(links: Iterable[Link]) -> int:
    return max(
        payload(way) for link in links if link.lower.startswith("leaf") for way in (link.up, link.down)
    )


def per_call(much: int, little: int, size: int) -> float:
    """What grows with the size is the collective; the rest is how a job starts and ends."""
    return (much - little) / _calls * size / (size - _little)


def _count(mpi: Mpi, job: Job, size: int) -> Run:
    load = machine.load()
    much, little = (
        busiest(topology.launch_in_lab(mpi, job, 0, [each], "--validate-only").links)
        for each in (size, _little)
    )
    (side,) = job.sides()
    return topology.record(
        mpi, load, job, side, bytes=size, uplink_bytes=round(per_call(much, little, size), 1)
    )


def count(mpi: Mpi, job: Job) -> list[Run]:
    return [_count(mpi, job, size) for size in job.case.sizes]


def plan(experiment: Experiment, mpi: Mpi) -> Iterator[Job]:
    """Each side alone: the links cannot tell two of them apart."""
    for situation in experiment.situations:
        for case in experiment.cases:
            for recipe in case.recipes:
                yield Job(experiment, situation, case, "", recipe)
            for native in topology_plan.natives(mpi, case):
                yield Job(experiment, situation, case, native, "")


_uplink = 2  # boundaries from the inside out: memory, card, uplink of a leaf


def said(run: Run) -> float | None:
    """By the schedules of all ranks, for the busiest uplink; None for the MPI."""
    source, _, recipe = run.side.partition(":")
    if source != "hocket":
        return None
    places = topology_prediction.places(run.situation())
    try:
        found: float | None = core().busiest_link(run.collective, recipe, places, _uplink)
    except RuntimeError:  # records outlive recipes
        return None
    return None if found is None else found * run.bytes


def counted(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.uplink_bytes != topology.NOT_COUNTED]
