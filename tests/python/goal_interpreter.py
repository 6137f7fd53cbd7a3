"""A reader of GOAL, and its execution on LogGP parameters: written from the language, not from Hocket."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from hocket.loggp.parameters import Protocol

Node = tuple[int, int]  # rank, label

_op = re.compile(r"l(\d+): (?:calc (\d+)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))")
_dependency = re.compile(r"l(\d+) (i?requires) l(\d+)")


@dataclass
class Op:
    kind: str  # calc, send, recv
    amount: int  # ns or bytes
    peer: int = -1
    ended: set[Node] = field(default_factory=set)  # what must have ended before it starts
    started: set[Node] = field(default_factory=set)


def _add_line(ops: dict[Node, Op], rank: int, line: str) -> None:
    if found := _op.fullmatch(line):
        kind, amount = (found[3], int(found[4])) if found[3] else ("calc", int(found[2]))
        assert (rank, int(found[1])) not in ops, line
        ops[rank, int(found[1])] = Op(kind, amount, int(found[5]) if found[5] else -1)
        return
    dependency = _dependency.fullmatch(line)
    assert dependency, line
    op = ops[rank, int(dependency[1])]
    before = op.ended if dependency[2] == "requires" else op.started
    before.add((rank, int(dependency[3])))


def parse(text: str) -> dict[Node, Op]:
    lines = deque(line.strip() for line in text.splitlines() if line.strip())
    ranks = int(lines.popleft().removeprefix("num_ranks "))
    ops: dict[Node, Op] = {}
    for rank in range(ranks):
        assert lines.popleft() == f"rank {rank} {{"
        while (line := lines.popleft()) != "}":
            _add_line(ops, rank, line)
    assert not lines
    return ops


def pairs(ops: dict[Node, Op]) -> dict[Node, Node]:
    """Send -> recv: the n-th from one rank to another with the n-th that expects it. All must pair up."""
    queues: dict[tuple[int, int], tuple[list[Node], list[Node]]] = defaultdict(lambda: ([], []))
    for node, op in ops.items():
        if op.kind == "send":
            queues[node[0], op.peer][0].append(node)
        elif op.kind == "recv":
            queues[op.peer, node[0]][1].append(node)
    found = {}
    for sends, recvs in queues.values():
        for send, recv in zip(sends, recvs, strict=True):
            assert ops[send].amount == ops[recv].amount
            found[send] = recv
    return found


def check_acyclic(ops: dict[Node, Op]) -> None:
    sources = {recv: send for send, recv in pairs(ops).items()}
    graph = TopologicalSorter({node: op.ended | op.started for node, op in ops.items()})
    for recv, send in sources.items():
        graph.add(recv, send)
    graph.prepare()  # raises CycleError


@dataclass
class Rank:
    cpu: float = 0.0
    way_out: float = 0.0
    way_in: float = 0.0


class Interpreter:
    """Events in the order of time: an op that may start, a message that is there."""

    def __init__(self, ops: dict[Node, Op], machine: Protocol) -> None:
        self.ops, self.machine = ops, machine
        self.ranks: dict[int, Rank] = defaultdict(Rank)
        self.receiver = pairs(ops)
        self.first_byte: dict[Node, float] = {}  # of the message for a recv
        self.ready: dict[Node, float] = {}
        self.missing = {node: len(op.ended) + len(op.started) for node, op in ops.items()}
        self.earliest: dict[Node, float] = defaultdict(float)
        self.after_end: dict[Node, list[Node]] = defaultdict(list)
        self.after_start: dict[Node, list[Node]] = defaultdict(list)
        for node, op in ops.items():
            for before in op.ended:
                self.after_end[before].append(node)
            for before in op.started:
                self.after_start[before].append(node)
        self.events: list[tuple[float, float, Node]] = []
        self.done = 0

    def run(self) -> dict[int, float]:
        """When each rank ends."""
        for node, missing in self.missing.items():
            if not missing:
                self._is_ready(node)
        while self.events:
            self._execute(heapq.heappop(self.events)[2])
        assert self.done == len(self.ops), "the schedule locks"
        return {rank: state.cpu for rank, state in self.ranks.items()}

    def _is_ready(self, node: Node) -> None:
        self.ready[node] = self.earliest[node]
        if self.ops[node].kind != "recv":
            heapq.heappush(self.events, (self.ready[node], 0.0, node))
        elif node in self.first_byte:
            self._can_receive(node)

    def _can_receive(self, node: Node) -> None:
        there = self.first_byte[node]
        heapq.heappush(self.events, (max(self.ready[node], there), there, node))

    def _execute(self, node: Node) -> None:
        op, rank = self.ops[node], self.ranks[node[0]]
        further = max(op.amount - 1, 0)
        stretch = further * self.machine.G
        overhead = self.machine.o + further * self.machine.O
        start = max(self.ready[node], rank.cpu)
        if op.kind == "calc":
            rank.cpu = start + op.amount
        elif op.kind == "send":
            start = max(start, rank.way_out)
            rank.way_out = start + self.machine.g + stretch
            rank.cpu = start + overhead
            self._deliver(self.receiver[node], start + self.machine.o + self.machine.L)
        else:
            begin = max(self.first_byte[node], rank.way_in)
            rank.way_in = begin + self.machine.g + stretch
            start = max(start, begin)
            rank.cpu = max(start + overhead, begin + stretch + self.machine.o)
        self._tell(self.after_start[node], start)
        self._tell(self.after_end[node], rank.cpu)
        self.done += 1

    def _deliver(self, recv: Node, when: float) -> None:
        self.first_byte[recv] = when
        if recv in self.ready:
            self._can_receive(recv)

    def _tell(self, nodes: list[Node], when: float) -> None:
        for node in nodes:
            self.earliest[node] = max(self.earliest[node], when)
            self.missing[node] -= 1
            if not self.missing[node]:
                self._is_ready(node)
