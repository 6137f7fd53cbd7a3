"""The tree of a lab for people, and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hocket import branches
from hocket.lab.quantities import format_latency, format_rate
from hocket.lab.shape import Shape
from hocket.lab.tree import Machine, Tree

_none: Mapping[str, str] = {}


def _card_words(tree: Tree, machine: Machine, shape: Shape) -> list[str]:
    card = tree.card_of(machine.name)
    return [f"card {card.address} of {shape.card_cores:g} cores"] if card else []


def _label(tree: Tree, machine: Machine, shape: Shape, fault: str) -> str:
    words = [machine.name, machine.address, format_rate(machine.rate) if machine.rate else ""]
    if machine.is_delayed and machine.parent:
        words.append(f"{format_latency(shape.latency_us)} down")
    return "  ".join(filter(None, [*words, *_card_words(tree, machine, shape), fault]))


def lines(tree: Tree, shape: Shape, faults: Mapping[str, str] = _none) -> list[str]:
    """`faults`: machine -> what is wrong with it."""

    def label(machine: Machine) -> str:
        return _label(tree, machine, shape, faults.get(machine.name, ""))

    def below(machine: Machine) -> list[Machine]:
        return tree.below(machine.name)

    root = tree.root()
    return [label(root), *branches.lines(below(root), label, below)]


def as_json(tree: Tree, shape: Shape, faults: Mapping[str, str] = _none) -> dict[str, Any]:
    """Rates in bits per second; the rate is that of the link to the parent."""

    def fields(machine: Machine) -> dict[str, Any]:
        card = tree.card_of(machine.name)
        named: dict[str, str | int] = {
            "name": machine.name,
            "kind": machine.kind,
            "rate": machine.rate,
            "address": machine.address,
        }
        named["card"] = card.address if card else ""
        named["fault"] = faults.get(machine.name, "")
        below = [fields(child) for child in tree.below(machine.name)]
        return {name: value for name, value in {**named, "below": below}.items() if value}

    return {"shape": shape.as_json(), "tree": fields(tree.root())}
