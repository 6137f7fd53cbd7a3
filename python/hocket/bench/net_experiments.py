"""What `hocket bench --net` measures: a table of values. A row more is an experiment more."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from hocket.bench.topology_algorithms import ALGORITHMS
from hocket.errors import CommandError, unknown
from hocket.lab.quantities import format_latency, format_rate, parse_latency, parse_rate
from hocket.lab.shape import Shape

_KiB, _MiB = 1 << 10, 1 << 20

IN_NETWORK = "in_network"
SEGMENTS = (1, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Situation:
    """The lab, whose switches aggregate, and how many ranks are on each of its nodes."""

    leaves: int = 2
    nodes: int = 4  # all of them
    ppn: int = 1
    rate: int = 10**8  # of every link, bits per second
    latency_us: int = 0  # between leaves

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn

    def shape(self) -> Shape:
        return Shape(
            leaves=self.leaves,
            nodes=self.nodes // self.leaves,
            rate=self.rate,
            uplink=self.rate,
            core=self.rate,
            latency_us=self.latency_us,
            aggregates=True,
        )

    @property
    def is_apart(self) -> bool:
        """Each node is under a switch of its own, so that every message has the latency."""
        return self.leaves == self.nodes

    def __str__(self) -> str:
        words = [f"{self.nodes} nodes under {self.leaves} leaves"]
        words += [f"{self.ppn} ranks a node"] if self.ppn > 1 else []
        words += [format_rate(self.rate)]
        words += [f"{format_latency(self.latency_us)} between leaves"] if self.latency_us else []
        return ", ".join(words)


def is_aggregated(recipe: str) -> bool:
    return recipe.startswith(IN_NETWORK)


def is_staged(recipe: str) -> bool:
    return recipe.startswith(f"{IN_NETWORK} by nodes")


@dataclass(frozen=True)
class Case:
    """A collective, what Hocket runs for it, and what the MPI is forced to.

    Each recipe takes turns with one algorithm of the MPI, in one job. The rivals have jobs of their own,
    without Hocket, and after the first run only where they are near the best. An MPI that lacks an algorithm
    is not asked for it.
    """

    collective: str
    sizes: tuple[int, ...]
    recipes: tuple[str, ...] = (IN_NETWORK,)
    beside: str = ""  # "": the MPI's choice
    rivals: tuple[str, ...] = ()
    streaming: bool = True
    is_swept: bool = False  # recipes, too, are measured again only where they are near the best

    def recipes_in(self, at: Situation) -> tuple[str, ...]:
        """Where nodes have several ranks their leaders aggregate, else all ranks do."""
        return tuple(one for one in self.recipes if not is_aggregated(one) or is_staged(one) == (at.ppn > 1))


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    text: str
    situations: tuple[Situation, ...]
    cases: tuple[Case, ...]
    counts_bytes: bool = False  # what goes over a node's link, instead of times; once
    traces: bool = False  # the stages of a call, instead of times; once


def staged(segments: Sequence[int], inside: str = "nodes") -> tuple[str, ...]:
    """Inside nodes, in the network, inside nodes: one after the other, and in segments that overlap."""
    each = (f" in {count} segments" if count > 1 else "" for count in segments)
    return tuple(f"{IN_NETWORK} by {inside}{segments}" for segments in each)


def _others(collective: str, beside: str, names: Sequence[str] = ()) -> tuple[str, ...]:
    """The MPI's choice and its algorithms, all of them or these, but for the one that is there anyway."""
    known = dict.fromkeys(name for table in ALGORITHMS.values() for name in table[collective])
    return tuple(name for name in ("", *(names or known)) if name != beside)


_4, _8, _16 = (Situation(leaves, nodes) for leaves, nodes in ((2, 4), (2, 8), (4, 16)))
_4_of_2 = dataclasses.replace(_4, ppn=2)
_small_sizes = (8, 64, 512, 2 * _KiB, 16 * _KiB, 64 * _KiB)
_one_sized = (8, 2 * _KiB, 64 * _KiB, 256 * _KiB, _MiB)
# All others send more than twice the vector over some link, and take minutes.
_of_large = _others("allreduce", "ring", ("segmented_ring", "rabenseifner"))


def _faster(situation: Situation) -> Situation:
    return dataclasses.replace(situation, rate=5 * situation.rate)


# What is judged comes first.
EXPERIMENTS = (
    Experiment(
        "allreduce",
        "Allreduce, a rank on each node",
        "The whole vector is one aggregation, streamed from 16 KiB on. Rivals from 4 MiB on are those that "
        "send no more than twice the vector over any link.",
        (_4, _8),
        (
            Case(
                "allreduce",
                (*_small_sizes, 256 * _KiB, _MiB),
                beside="ring",
                rivals=_others("allreduce", "ring"),
            ),
            Case("allreduce", (4 * _MiB, 16 * _MiB), beside="ring", rivals=_of_large),
        ),
    ),
    Experiment(
        "fast",
        "Allreduce over links of 500 Mbit",
        "Here the processors have a part in it, which nodes and switches share.",
        tuple(_faster(one) for one in (_4, _8)),
        (
            Case(
                "allreduce",
                (64 * _KiB, 256 * _KiB, _MiB),
                beside="ring",
                rivals=_others("allreduce", "ring"),
            ),
            Case("allreduce", (16 * _MiB,), beside="ring", rivals=_of_large),
        ),
    ),
    Experiment(
        "small",
        "Small messages over links with a latency",
        "Each node is under a leaf of its own, so that every message waits: once on its way through the "
        "network that reduces, and in each round between hosts. Where leaves have 4 nodes each, some rounds "
        "do not (without a target).",
        (
            *(Situation(count, count, latency_us=latency) for count in (8, 16) for latency in (200, 500)),
            dataclasses.replace(_16, latency_us=500),
        ),
        (
            Case(
                "allreduce",
                (8, 256, 2 * _KiB),
                recipes=(IN_NETWORK, "recursive_doubling"),
                beside="recursive_doubling",
            ),
        ),
    ),
    Experiment(
        "stages",
        "Several ranks on a node",
        "Ranks of a node reduce among themselves, their leader speaks to the network, and hands the result "
        "out: whole vectors, and segments of which some are in each of the three stages. Slices: each rank "
        "folds one for the leader, in the place of a tree.",
        tuple(dataclasses.replace(_4, ppn=ppn) for ppn in (2, 4)),
        (
            Case(
                "allreduce",
                (_MiB,),
                (*staged(SEGMENTS), *staged((8, 16, 32), "nodes(slices)")),
                beside="ring",
                is_swept=True,
            ),
            Case("allreduce", (4 * _MiB,), staged((16,)), beside="ring"),
        ),
    ),
    Experiment(
        "bytes",
        "Bytes on a node's link",
        "Counted by the links of the lab over 18 calls, headers and acknowledgements taken off, and what 8 "
        "bytes need as well: that is how the job starts and ends. Of all nodes' links the one with the most.",
        (_4, _8, _16, _4_of_2),
        (
            Case("allreduce", (_MiB,), beside="ring", rivals=("rabenseifner", "recursive_doubling")),
            Case("allreduce", (_MiB,), staged((16,))),
        ),
        counts_bytes=True,
    ),
    Experiment(
        "timeline",
        "The three stages of a call",
        "Of the leader of the first node: from a trace, which a job of its own writes. Where a segment is, "
        "which is not what it costs: what waits for the network counts as reduced or handed out until the "
        "round ends.",
        (_4_of_2,),
        (Case("allreduce", (_MiB,), staged((8, 16))),),
        traces=True,
    ),
    Experiment(
        "small_mode",
        "Without streaming",
        "As the first, with `SHARP_COLL_ENABLE_SAT=0`: a vector is cut into pieces that follow each other.",
        (_4, _8),
        (Case("allreduce", (64 * _KiB, _MiB), beside="ring", streaming=False),),
    ),
    Experiment(
        "others",
        "Reduce, broadcast and barrier",
        "Beside each algorithm of the MPI. No target.",
        tuple(one for each in (_8, _4, _4_of_2) for one in (each, _faster(each))),
        (
            *(
                Case(
                    collective,
                    _one_sized,
                    (IN_NETWORK, *staged((1, 8))),
                    beside="binomial",
                    rivals=_others(collective, "binomial"),
                )
                for collective in ("reduce", "bcast")
            ),
            Case(
                "barrier",
                (0,),
                (IN_NETWORK, *staged((1,))),
                beside="recursive_doubling",
                rivals=_others("barrier", "recursive_doubling"),
            ),
        ),
    ),
)


def named(name: str) -> Experiment:
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise unknown("experiment", name, [experiment.name for experiment in EXPERIMENTS])


def chosen(text: str) -> list[Experiment]:
    return [named(name) for name in text.split(",")] if text else list(EXPERIMENTS)


_parsers = {"rate": parse_rate, "latency_us": parse_latency}


def _value(name: str, text: str) -> int:
    if text.isdigit():
        return int(text)
    if name in _parsers:
        return _parsers[name](text)
    raise CommandError(f"'{text}' is no number, which {name} is")


def where(text: str) -> dict[str, int]:
    """nodes=8,rate=100mbit: properties of a situation, and what they have to be."""
    names = [field.name for field in dataclasses.fields(Situation)]
    found = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if name not in names:
            raise unknown("property of a situation", name, names)
        found[name] = _value(name, value)
    return found


def narrowed(
    experiment: Experiment,
    collectives: Sequence[str] = (),
    sizes: Sequence[int] = (),
    where: Mapping[str, int] = MappingProxyType({}),
) -> Experiment:
    """To these of its collectives, sizes and situations; empty: all. Without cases if it has none of them."""
    situations = [
        one
        for one in experiment.situations
        if all(getattr(one, name) == value for name, value in where.items())
    ]
    cases = [
        dataclasses.replace(case, sizes=tuple(size for size in case.sizes if not sizes or size in sizes))
        for case in experiment.cases
        if not collectives or case.collective in collectives
    ]
    kept = tuple(case for case in cases if case.sizes and situations)
    return dataclasses.replace(experiment, situations=tuple(situations), cases=kept)


def in_small(experiment: Experiment) -> Experiment:
    """Shows that it works; its numbers say nothing."""
    first = experiment.situations[0]
    situation = dataclasses.replace(first, leaves=2, nodes=4, ppn=min(first.ppn, 2), latency_us=0)
    case = experiment.cases[0]
    small = dataclasses.replace(
        case,
        sizes=(min(case.sizes[0], 64 * _KiB),),
        recipes=case.recipes_in(situation)[-1:],
        rivals=case.rivals[:1],
    )
    return dataclasses.replace(experiment, situations=(situation,), cases=(small,))
