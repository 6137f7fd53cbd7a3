"""On which nodes the ranks of a job are."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from hocket.errors import CommandError, why
from hocket.topology.tree import Vertex, find_nodes

Placement = dict[str, list[int]]  # the ranks on each node


def read(path: Path) -> list[str]:
    """A host a line, in the order of ranks."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise CommandError(f"'{path}' cannot be read: {why(problem)}") from problem
    hosts = [words[0] for line in lines if (words := line.partition("#")[0].split())]
    if not hosts:
        raise CommandError(f"'{path}' names no host")
    return hosts


def place(tree: Vertex, hosts: list[str]) -> Placement:
    """Hosts may be named with or without their domain."""
    different = list(dict.fromkeys(hosts))
    nodes = dict(zip(different, find_nodes(tree, different), strict=True))
    ranks: Placement = defaultdict(list)
    for rank, host in enumerate(hosts):
        if (node := nodes[host]) is None:
            raise CommandError(f"rank {rank} is on '{host}', which is not in this machine")
        ranks[node.name].append(rank)
    return dict(ranks)


def ranges(ranks: list[int]) -> str:
    """0-3,7 for 0, 1, 2, 3, 7."""
    words: list[str] = []
    first = last = ranks[0]
    for rank in [*ranks[1:], -1]:
        if rank == last + 1:
            last = rank
            continue
        words.append(str(first) if first == last else f"{first}-{last}")
        first = last = rank
    return ",".join(words)
