"""Rows of the catalog and schedules, by the names people write: allreduce:ring, bcast:knomial(radix=4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from hocket.core import core
from hocket.errors import CommandError, unknown
from hocket.shapes import SHAPES

Row = dict[str, Any]


class Request(NamedTuple):
    """What the compiled functions take, in their order."""

    collective: str
    algorithm: str
    ranks: int
    root: int
    parameters: dict[str, int]
    commutative: bool = True


@dataclass(frozen=True)
class Named:
    row: Row
    parameters: dict[str, int]

    def request(self, ranks: int, root: int, commutative: bool = True) -> Request:
        return Request(self.row["collective"], self.row["name"], ranks, root, self.parameters, commutative)


def presets(row: Row) -> dict[str, int]:
    return {parameter["name"]: int(parameter["preset"]) for parameter in row["parameters"]}


def rows(collective: str = "") -> list[Row]:
    return [row for row in core().catalog() if not collective or row["collective"] == collective]


def collective_named(name: str) -> str:
    """A shape of the catalog; MPI's names for v-forms are accepted."""
    shapes = sorted({row["collective"] for row in rows()})
    if name in shapes:
        return name
    if name in SHAPES:
        return SHAPES[name].collective
    raise unknown("collective", name, shapes)


def _parameters(row: Row, text: str) -> dict[str, int]:
    values = presets(row)
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = word.partition("=")
        if name not in values:
            raise unknown(f"parameter of {row['name']}", name, values)
        if not re.fullmatch(r"-?\d+", value):
            raise CommandError(f"parameter '{word}' needs a whole number: {name}={values[name]}")
        values[name] = int(value)
    for parameter in row["parameters"]:
        if not parameter["least"] <= values[parameter["name"]] <= parameter["most"]:
            bounds = f"{parameter['least']} to {parameter['most']}"
            raise CommandError(f"parameter {parameter['name']} of {row['name']} must be {bounds}")
    return values


def row_named(collective: str, text: str) -> Named:
    """An algorithm, with parameters in parentheses if it has any."""
    matched = re.fullmatch(r"(\w+)(?:\((.*)\))?", text.strip())
    name = matched[1] if matched else text
    for row in rows(collective):
        if matched and row["name"] == name:
            return Named(row, _parameters(row, matched[2] or ""))
    raise unknown(f"algorithm for {collective}", name, [row["name"] for row in rows(collective)])


def split_recipe(text: str) -> tuple[str, str]:
    """knomial(radix=4) by nodes -> (knomial(radix=4), by nodes); the second part is empty for a flat row."""
    matched = re.fullmatch(r"(\w+(?:\s*\([^)]*\))?)(.*)", text.strip())
    return (matched[1], matched[2].strip()) if matched else (text, "")


def split(text: str) -> tuple[str, str]:
    """allreduce:ring -> (allreduce, ring); the second part may be empty."""
    collective, _, algorithm = text.partition(":")
    return collective_named(collective), algorithm
