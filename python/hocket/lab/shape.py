"""What a lab is to look like: how many nodes under how many switches, and how fast the links are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hocket.errors import CommandError
from hocket.lab.quantities import parse_latency, parse_rate

MOST_NODES = 256
DEFAULT_CARD_CORES = 0.5
_least_cores, _most_cores = 0.01, 1024.0
_most_per_switch = 250  # the last byte of an address counts a leaf's nodes


@dataclass(frozen=True)
class Shape:
    leaves: int = 2
    nodes: int = 2  # under each leaf
    levels: int = 2  # of switches: leaf and spine, or leaf, pod and spine
    pods: int = 2  # only with three levels
    rate: int = 10**8  # of a node's link, bits per second
    uplink: int = 10**8  # of a leaf's link
    core: int = 10**8  # of a pod's link
    latency_us: int = 0  # on the way from the upper switches down to a leaf
    card_cores: float = 0.0  # that each node's card may use; 0: nodes have none
    aggregates: bool = False  # switches do, instead of only forwarding

    def __post_init__(self) -> None:
        _check(self)

    @property
    def all_nodes(self) -> int:
        return self.leaves * self.nodes

    def as_json(self) -> dict[str, float]:
        return asdict(self)


def from_json(fields: dict[str, Any]) -> Shape:
    return Shape(**fields)


_parsers: dict[str, Callable[[str], int]] = {
    "rate": parse_rate,
    "uplink": parse_rate,
    "core": parse_rate,
    "latency_us": parse_latency,
}


def from_words(words: Mapping[str, float | str | None]) -> Shape:
    """Of the fields that the user gave. A pod's link is as fast as a leaf's unless said otherwise."""
    given: dict[str, Any] = {
        name: _parsers[name](word) if isinstance(word, str) else word
        for name, word in words.items()
        if word is not None
    }
    if "uplink" in given:
        given.setdefault("core", given["uplink"])
    return Shape(**given)


def _check(shape: Shape) -> None:
    if shape.leaves < 1 or shape.nodes < 1:
        raise CommandError("a lab has one leaf and one node at least")
    if shape.all_nodes > MOST_NODES or max(shape.leaves, shape.nodes) > _most_per_switch:
        raise CommandError(
            f"{shape.all_nodes} nodes are too many for one machine; at most {MOST_NODES}, "
            f"{_most_per_switch} under a switch"
        )
    if shape.levels not in (2, 3):
        raise CommandError("a lab has 2 levels of switches (leaf, spine) or 3 (leaf, pod, spine)")
    if shape.levels == 3 and not 1 <= shape.pods <= shape.leaves:
        raise CommandError(f"{shape.leaves} leaves cannot be spread over {shape.pods} pods")
    if shape.card_cores and not _least_cores <= shape.card_cores <= _most_cores:
        raise CommandError(f"cards have {_least_cores:g} to {_most_cores:g} cores, not {shape.card_cores:g}")
    if shape.latency_us and shape.leaves < 2:
        raise CommandError("the latency is that between leaves, and one leaf has nobody to talk to")
