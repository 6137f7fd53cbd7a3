"""What the compiled executor takes: the machine's levels as the ranks of a job see them."""

from __future__ import annotations

import dataclasses
from typing import Any

from hocket.loggp.parameters import Level
from hocket.simulate.machine import FARTHEST, Machine
from hocket.simulate.placement import Placement, groups


def _run(numbers: list[int]) -> int:
    """How many consecutive ranks each group holds, if the groups are such runs, alike but for the last."""
    if all(number == numbers[0] for number in numbers):
        return 0
    first = next((i for i, number in enumerate(numbers) if number != numbers[0]), len(numbers))
    leaders = numbers[::first]
    alike = all(number == leaders[i // first] for i, number in enumerate(numbers))
    return first if alike and len(set(leaders)) == len(leaders) else 0


def _level(machine: Machine, level: Level, placed: Placement) -> dict[str, Any]:
    d = dataclasses.asdict(level)
    if level.name == FARTHEST:
        return d
    numbers = groups(machine.shape, level.name, placed)
    d["ranks"] = _run(numbers)
    d["group_of"] = None if d["ranks"] else numbers
    if level.name in machine.links:
        link = machine.links[level.name]
        d["link"] = {"g": link.gap_ns, "G": link.per_byte()}
    return d


def of(machine: Machine, placed: Placement) -> dict[str, Any]:
    levels = [_level(machine, level, placed) for level in machine.levels]
    switches = machine.switches and {"latency": machine.switches.latency_ns, "G": machine.switches.per_byte()}
    return {"levels": levels, "copy": machine.copy, "reduce": machine.reduce, "switches": switches}
