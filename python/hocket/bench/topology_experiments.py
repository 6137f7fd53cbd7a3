"""What `hocket bench --topology` measures: a table of values. A row more is an experiment more."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from hocket.bench.topology_algorithms import ALGORITHMS
from hocket.errors import unknown
from hocket.lab.quantities import format_latency
from hocket.lab.shape import Shape
from hocket.quantities import format_bytes

_KiB, _MiB = 1 << 10, 1 << 20

ASKED_RUNS = 5  # of each side, before it is judged
LONG_RUNS = 3  # where one call takes more than a few seconds
LEAST_RUNS = 3  # of fewer no ratio is shown
LEFT_BY_TRAFFIC = "left_by_traffic"  # the experiment that says what topology_traffic reads
BY_RULES = "by the rules"  # in the place of a recipe: whatever Hocket takes when nothing is forced


@dataclass(frozen=True)
class Situation:
    """The machine of the lab, and where the ranks are."""

    leaves: int = 4
    nodes: int = 4  # with ranks, under each leaf
    ppn: int = 1
    rate: int = 10**8  # of a node's link, bits per second
    uplink: int = 10**8  # of a leaf's
    latency_us: int = 0
    placement: str = "block"
    traffic: int = 0  # further nodes under each leaf, which send to each other meanwhile

    @property
    def ranks(self) -> int:
        return self.leaves * self.nodes * self.ppn

    def shape(self) -> Shape:
        return Shape(
            leaves=self.leaves,
            nodes=self.nodes + self.traffic,
            rate=self.rate,
            uplink=self.uplink,
            core=self.uplink,
            latency_us=self.latency_us,
        )

    def in_short(self) -> str:
        """Without what most situations have in common."""
        words = [self.placement, f"{self.ranks} ranks"]
        words += [format_latency(self.latency_us)] if self.latency_us else []
        return ", ".join([*words, *(["traffic"] if self.traffic else [])])

    def _names(self, first: int, last: int) -> list[str]:
        """Of these nodes under each leaf."""
        each = self.nodes + self.traffic
        return [f"n{leaf * each + i}" for leaf in range(self.leaves) for i in range(first, last)]

    def with_ranks(self) -> str:
        return ",".join(self._names(0, self.nodes))

    def with_traffic(self) -> list[str]:
        return self._names(self.nodes, self.nodes + self.traffic)


@dataclass(frozen=True)
class Case:
    """A collective, what Hocket runs for it, and what the MPI is forced to beside its own choice."""

    collective: str
    sizes: tuple[int, ...]
    recipes: tuple[str, ...]
    natives: tuple[str, ...] = ()  # names of ALGORITHMS; an MPI that lacks one is not asked for it
    most_runs: int = 1000  # where one takes long: LONG_RUNS

    @property
    def asked_runs(self) -> int:
        return min(ASKED_RUNS, self.most_runs)


_no_limit = 1 << 40


@dataclass(frozen=True)
class Target:
    """What the best recipe should reach, and what the rules take as well, in some of the situations."""

    ratio: float
    over: str = ""  # an algorithm of the MPI; "": its best one
    of_bound: bool = False  # instead: at most `ratio` times the bound
    least_bytes: int = 0
    most_bytes: int = _no_limit
    placement: str = ""  # "": any
    least_latency_us: int = 0
    collective: str = ""  # "": any

    def is_for(self, collective: str, size: int, situation: Situation) -> bool:
        return (
            self.collective in ("", collective)
            and self.least_bytes <= size <= self.most_bytes
            and self.placement in ("", situation.placement)
            and situation.latency_us >= self.least_latency_us
        )

    @property
    def relation(self) -> str:
        return f"{'at most' if self.of_bound else 'at least'} {self.ratio:g}x"

    @property
    def base(self) -> str:
        return "of the bound" if self.of_bound else f"over {self.over or 'the best'}"

    def __str__(self) -> str:
        words = f"{self.relation} {self.base}"
        if self.least_bytes:
            return f"{words}, from {format_bytes(self.least_bytes)} on"
        return f"{words}, up to {format_bytes(self.most_bytes)}" if self.most_bytes < _no_limit else words


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    text: str
    situations: tuple[Situation, ...]
    cases: tuple[Case, ...]
    targets: tuple[Target, ...] = ()
    has_plot: bool = False
    counts_bytes: bool = False  # what goes over the uplinks, instead of times
    is_setup: bool = False  # what comes before any job (topology_setup.py): without situations and cases
    compares_directions: bool = False  # gather beside scatter

    @property
    def is_judged(self) -> bool:
        """Or others are judged by it."""
        return bool(self.targets) or self.counts_bytes or self.is_setup or self.name == LEFT_BY_TRAFFIC

    def case_of(self, collective: str, size: int) -> Case | None:
        fitting = (case for case in self.cases if case.collective == collective and size in case.sizes)
        return next(fitting, None)


_rooted_sizes = (8, _KiB, 4 * _KiB, 64 * _KiB)
_rooted = ("linear by leaves", "knomial by leaves", "linear")
_scattered = Situation(placement="scattered", latency_us=500)
_beside_traffic = dataclasses.replace(_scattered, traffic=1)
_of_a_leaf = tuple(_scattered.nodes * size for size in _rooted_sizes)
_all_allreduce = tuple(ALGORITHMS["ompi"]["allreduce"])
_alltoall = (
    *("dimension_exchange(radix=4) by nodes", "bruck(radix=4) by nodes", "bruck(radix=2) by nodes"),
    *("linear by nodes", "pairwise", "linear", "linear(window=6) by nodes"),
)
_alltoallv = (
    *("linear by nodes", "linear by nodes+leaves", "pairwise", "linear", "linear(window=6) by nodes"),
)
_fast = Situation(rate=10**10, uplink=10**10)
_fast_2, _fast_4 = (dataclasses.replace(_fast, ppn=ppn) for ppn in (2, 4))
_fast_text = (
    "Small messages over links of 10 Gbit, without latency: what is left is the work of the processors, "
    "which all nodes of the lab share. No target: with many ranks on few cores it depends on how the system "
    "schedules them, and slow links hide some of it."
)

# What is judged comes first, and of that last what takes longest: when time is up, less is lost.
EXPERIMENTS = (
    Experiment(
        "setup",
        "Before a job starts",
        "What making a lab and reading the description of a machine take.",
        (),
        (),
        is_setup=True,
    ),
    Experiment(
        "rooted",
        "Gather and scatter on scattered nodes",
        "The allocation is in no order, which is what schedulers hand out on a busy machine, and leaves are "
        "500 us apart: a tree over ranks crosses between leaves in each of its rounds, one over leaves once. "
        "With traffic, one more node under each leaf sends to the others all the time. Without latency, what "
        "is left is the hosts and the links.",
        (
            _scattered,
            _beside_traffic,
            dataclasses.replace(_scattered, latency_us=0),
        ),
        (
            Case("gather", _rooted_sizes, _rooted, ("binomial", "linear")),
            Case("scatter", _rooted_sizes, _rooted, ("binomial", "linear")),
        ),
        (
            Target(2.17, over="binomial", most_bytes=4 * _KiB, least_latency_us=1),
            Target(0.95, least_bytes=64 * _KiB),
        ),
        has_plot=True,
        compares_directions=True,
    ),
    Experiment(
        LEFT_BY_TRAFFIC,
        "What traffic leaves of the links",
        "One rank under each leaf, with as many bytes as all ranks of the leaf have in the tables above, and "
        "the same traffic: one message from, or to, each other leaf, and nothing besides. No gather or "
        "scatter sends fewer, or fewer bytes over the uplinks: it is their bound with traffic.",
        (dataclasses.replace(_beside_traffic, nodes=1),),
        (
            Case("gather", _of_a_leaf, ("linear",), ("linear",)),
            Case("scatter", _of_a_leaf, ("linear",), ("linear",)),
        ),
    ),
    Experiment(
        "alltoall",
        "Alltoall with several ranks on a node",
        "Blocks for one node, or one leaf, travel together: fewer messages, and no byte more over an uplink.",
        (Situation(ppn=2), Situation(ppn=4), Situation(ppn=2, latency_us=500)),
        (
            Case(
                "alltoall",
                (8, 256, 4 * _KiB),
                _alltoall,
                ("linear", "pairwise", "bruck", "linear_sync", "scattered"),
            ),
            Case("alltoallv", (8, 256, 4 * _KiB), _alltoallv, ("linear", "pairwise", "scattered")),
        ),
        (
            Target(1.5, most_bytes=256),
            Target(1.5, least_bytes=_KiB, least_latency_us=1),
            Target(1.2, of_bound=True, least_bytes=_KiB),
        ),
        has_plot=True,
    ),
    Experiment(
        "uplinks",
        "Bytes on the busiest uplink",
        "Counted by the links of the lab over 18 calls, headers and acknowledgements taken off, beside what "
        "the schedule sends over the busiest of all uplinks and directions. What is counted of 8 bytes is "
        "taken off as well: that is how the job starts and ends. Of the MPI's algorithms only the count is "
        "known.",
        (Situation(placement="cyclic"),),
        (
            Case("gather", (256 * _KiB,), ("linear by leaves", "linear"), ("binomial",)),
            Case("scatter", (256 * _KiB,), ("linear by leaves", "linear"), ("binomial",)),
            Case("bcast", (_MiB,), ("knomial by leaves", "knomial by leaves in 8 segments"), ("binomial",)),
            Case("allreduce", (_MiB,), ("ring reordered", "recursive_doubling by leaves"), ("ring",)),
            Case("reduce", (_MiB,), ("knomial by leaves",), ("binomial",)),
            Case("allgather", (64 * _KiB,), ("ring reordered", "bruck by leaves"), ("ring",)),
            Case("alltoall", (16 * _KiB,), ("linear", "bruck by leaves"), ("pairwise",)),
        ),
        counts_bytes=True,
    ),
    Experiment(
        "allreduce",
        "Allreduce where neighbours are far apart",
        "Cyclic placement puts consecutive ranks under different leaves: a ring over ranks sends everything "
        "over every uplink. In blocks the ring is as short as it can be, and nothing should be lost. Where "
        "16 ranks share two cores, those bound the ring's short messages, not the links "
        "([several nodes](design/0009-several-nodes.md)): fewer messages, by halves, whose segments load the "
        "links to nodes and the uplinks at the same time, take less.",
        (Situation(placement="cyclic"), Situation(placement="block")),
        (
            Case(
                "allreduce",
                (64 * _KiB,),
                (
                    "recursive_doubling by leaves",
                    "ring reordered",
                    "ring by leaves in 8 segments",
                    "recursive_halving_doubling in 3 segments 2 apart reordered",
                ),
                _all_allreduce,
            ),
            Case(
                "allreduce",
                (_MiB,),
                ("ring reordered", "ring in 3 segments reordered", "ring by leaves in 8 segments"),
                _all_allreduce[1:],
            ),
            Case(
                "allreduce",
                (16 * _MiB,),
                ("ring reordered", "ring by leaves in 8 segments"),
                ("ring", "segmented_ring", "rabenseifner"),
                most_runs=LONG_RUNS,
            ),
        ),
        (Target(1.5, placement="cyclic"), Target(0.95, placement="block")),
        has_plot=True,
    ),
    Experiment(
        "others",
        "Broadcast, reduce, allgather and barrier on cyclic nodes",
        "No target: what hierarchies, segments and renumbering do for the rest.",
        (Situation(placement="cyclic"),),
        (
            Case(
                "bcast",
                (4 * _KiB, 64 * _KiB, _MiB),
                ("knomial by leaves", "knomial by leaves in 8 segments", "chain(segments=16) reordered"),
                ("binomial", "chain", "pipeline", "scatter_allgather"),
            ),
            Case(
                "reduce",
                (4 * _KiB, 64 * _KiB, _MiB),
                ("knomial by leaves", "knomial by leaves in 8 segments"),
                ("binomial", "pipeline", "rabenseifner"),
            ),
            Case(
                "allgather",
                (8, 4 * _KiB, 64 * _KiB),
                ("ring reordered", "ring by leaves", "bruck by leaves"),
                ("bruck", "recursive_doubling", "ring", "neighbor"),
            ),
            Case("barrier", (0,), ("message_dissemination by leaves",), ("recursive_doubling", "bruck")),
        ),
    ),
    Experiment(
        "rooted_fast",
        "Gather and scatter where links are no limit",
        _fast_text,
        (dataclasses.replace(_fast, placement="scattered"), _fast_2, _fast_4),
        (
            Case("gather", (8,), _rooted, ("binomial", "linear")),
            Case("scatter", (8,), _rooted, ("binomial", "linear")),
        ),
    ),
    Experiment(
        "alltoall_fast",
        "Alltoall where links are no limit",
        _fast_text,
        (_fast_2, _fast_4),
        (
            Case("alltoall", (8, 256), _alltoall[:4], ("bruck", "linear_sync", "scattered")),
            Case("alltoallv", (8, 256), _alltoallv[:2], ("linear", "pairwise", "scattered")),
        ),
    ),
)


def named(name: str) -> Experiment:
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise unknown("experiment", name, [experiment.name for experiment in EXPERIMENTS])


def parts(name: str) -> list[tuple[Situation, Case]]:
    """Of an experiment; records outlive experiments, and of one that is gone there are none."""
    return [
        (situation, case)
        for experiment in EXPERIMENTS
        if experiment.name == name
        for situation in experiment.situations
        for case in experiment.cases
    ]


def chosen(text: str) -> list[Experiment]:
    return [named(name) for name in text.split(",")] if text else list(EXPERIMENTS)


_most_in_small = 64 * _KiB


def _small(situation: Situation) -> Situation:
    return dataclasses.replace(situation, leaves=2, nodes=2, ppn=min(situation.ppn, 2), latency_us=0)


def _is_where(situation: Situation, where: Mapping[str, str]) -> bool:
    return all(str(getattr(situation, name)) == value for name, value in where.items())


def where(text: str) -> dict[str, str]:
    """ppn=2,latency_us=500: fields of a situation, and what they have to be."""
    names = [field.name for field in dataclasses.fields(Situation)]
    found = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if name not in names:
            raise unknown("property of a situation", name, names)
        found[name] = value
    return found


def narrowed(
    experiment: Experiment,
    collectives: Sequence[str],
    sizes: Sequence[int],
    where: Mapping[str, str] = MappingProxyType({}),
) -> Experiment:
    """To these of its collectives, sizes and situations; empty: all. Without cases if it has none of them."""
    if experiment.is_setup:
        is_asked = not (collectives or sizes or where)
        return dataclasses.replace(experiment, is_setup=is_asked)
    situations = tuple(one for one in experiment.situations if _is_where(one, where))
    cases = [
        dataclasses.replace(case, sizes=tuple(size for size in case.sizes if not sizes or size in sizes))
        for case in experiment.cases
        if not collectives or case.collective in collectives
    ]
    cases = [case for case in cases if case.sizes and situations]
    return dataclasses.replace(experiment, situations=situations, cases=tuple(cases))


def in_small(experiment: Experiment) -> Experiment:
    """Shows that it works; its numbers say nothing."""
    cases = [
        dataclasses.replace(
            case,
            sizes=(min(case.sizes[0], _most_in_small),),
            recipes=case.recipes[:1],
            natives=case.natives[:1],
            most_runs=1,
        )
        for case in experiment.cases
    ]
    situations: Sequence[Situation] = [_small(situation) for situation in experiment.situations[:1]]
    return dataclasses.replace(experiment, situations=tuple(situations), cases=tuple(cases))
