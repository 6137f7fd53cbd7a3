"""Who predicts what a call takes: LogGP parameters alone, or a machine on which each rank has its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hocket.catalog import Named
from hocket.loggp import prediction
from hocket.loggp.parameters import Parameters
from hocket.loggp.prediction import Prediction
from hocket.simulate import scale
from hocket.simulate.machine import Machine
from hocket.simulate.placement import Placement
from hocket.simulate.scale import Call


def written(name: str, parameters: Mapping[str, int]) -> str:
    """As rules write it."""
    words = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name}({words})" if words else name


class Predictor(Protocol):
    def row(self, named: Named, call: Call) -> Prediction: ...
    def recipe(self, text: str, call: Call) -> Prediction: ...
    def origin(self) -> str: ...


@dataclass(frozen=True)
class Alone:
    """So many consecutive ranks are near to each other; nothing more is known of the machine."""

    parameters: Parameters
    ranks: int

    def row(self, named: Named, call: Call) -> Prediction:
        request = named.request(self.ranks, call.root, call.commutative)
        return prediction.predict(request, call.size, self.parameters)

    def recipe(self, text: str, call: Call) -> Prediction:
        return Prediction(refusal="nothing is known of the machine that it follows")

    def origin(self) -> str:
        levels = ", ".join(f"{level.name} ({level.ranks or 'all'})" for level in self.parameters.levels)
        return f"{self.parameters.origin()}; ranks per level: {levels}"


@dataclass(frozen=True)
class OnMachine:
    machine: Machine
    placed: Placement

    def row(self, named: Named, call: Call) -> Prediction:
        return self.recipe(written(named.row["name"], named.parameters), call)

    def recipe(self, text: str, call: Call) -> Prediction:
        found = scale.predict(self.machine, self.placed, call, text)
        return Prediction(found.total, found.slowest_cpu, found.cpu, found.refusal)

    def origin(self) -> str:
        nodes = len(self.placed.used())
        links = ", ".join(self.machine.links) or "none"
        return f"{self.machine.origin}; on {nodes} node{'s'[: nodes > 1]}, links that ranks share: {links}"
