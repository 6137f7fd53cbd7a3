"""The machines of a lab as a value: who hangs below whom, at which rate, with which address."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hocket.errors import CommandError
from hocket.lab.shape import Shape

NETWORK = "10.77.0.0/16"
HEAD = "head"
HEAD_ADDRESS = "10.77.255.1"
SWITCH_ABOVE = "switch"  # what each machine calls the switch that it is below, where that has an address

# Third bytes of addresses; leaves' nodes have those below
_of_cards = (253, 254)
_of_switches = (252, 251, 250)
_most_of_a_byte = 250

# Between a node and its card only, so that all nodes may have the same
NODE_ADDRESS, CARD_ADDRESS = "192.168.255.1", "192.168.255.2"
NODE_DEVICE, CARD_DEVICE = "eth0", "net0"  # in the lab's network


@dataclass(frozen=True)
class Machine:
    name: str
    kind: str  # node, switch, head: where mpirun runs; card: a computer that its node's link belongs to
    parent: str = ""  # the switch above; the top one has none
    rate: int = 0  # of the link to it, both ways, bits per second
    address: str = ""  # switches that only forward have none
    is_delayed: bool = False  # what comes down from the switch above waits for the lab's latency

    @property
    def interface(self) -> str:
        """Its own end of the link to the switch above; the other end has the machine's name."""
        return "up0" if self.kind in ("switch", "card") else NODE_DEVICE


@dataclass(frozen=True)
class Tree:
    machines: tuple[Machine, ...]  # parents before their children
    cards: tuple[Machine, ...] = ()  # none, or each node's; they hang where their nodes do

    @cached_property
    def _by_name(self) -> dict[str, Machine]:
        return {machine.name: machine for machine in (*self.machines, *self.cards)}

    def named(self, name: str) -> Machine:
        if name not in self._by_name:
            nodes = self.nodes()
            raise CommandError(
                f"no machine named '{name}' in this lab; there are {nodes[0].name} to {nodes[-1].name}, "
                f"{HEAD}, {', '.join(switch.name for switch in self.switches())}"
            )
        return self._by_name[name]

    def nodes(self) -> list[Machine]:
        return [machine for machine in self.machines if machine.kind == "node"]

    def switches(self) -> list[Machine]:
        return [machine for machine in self.machines if machine.kind == "switch"]

    def root(self) -> Machine:
        return next(machine for machine in self.machines if not machine.parent)

    def above(self, machine: Machine) -> Machine | None:
        """The switch above it, or None for the top one."""
        return self.named(machine.parent) if machine.parent else None

    def aggregating(self) -> list[Machine]:
        """The switches that do more than forward."""
        return [switch for switch in self.switches() if switch.address]

    def aggregating_above(self, machine: Machine) -> Machine | None:
        """The nearest of them above it; None where there is none."""
        above = self.above(machine)
        return above if above is None or above.address else self.aggregating_above(above)

    def below(self, name: str) -> list[Machine]:
        return [machine for machine in self.machines if machine.parent == name]

    def card_of(self, node: str) -> Machine | None:
        return self._by_name.get(_card_name(node))

    def lower_end(self, machine: Machine) -> Machine:
        """Who has the lower end of a machine's link: its card, or itself."""
        return self.card_of(machine.name) or machine

    def as_rack_file(self) -> str:
        """For HOCKET_TOPOLOGY: each node, and the switches above it but for the one above all."""
        return "".join(f"{node.name} /{'/'.join(self._switches_above(node))}\n" for node in self.nodes())

    def _switches_above(self, machine: Machine) -> list[str]:
        above = self.above(machine)
        return [*self._switches_above(above), above.name] if above and above.parent else []

    def linked(self) -> list[Machine]:
        """One for each link: the machine at its lower end."""
        return [machine for machine in self.machines if machine.parent]


def _card_name(node: str) -> str:
    return f"{node}-card"


def _upper_switches(shape: Shape) -> Iterator[Machine]:
    if shape.leaves == 1:
        return
    yield Machine("spine", "switch")
    if shape.levels == 3:
        for i in range(shape.pods):
            yield Machine(f"pod{i}", "switch", "spine", shape.core, is_delayed=bool(shape.latency_us))


def _above_leaf(shape: Shape, leaf: int) -> str:
    if shape.leaves == 1:
        return ""
    return f"pod{leaf * shape.pods // shape.leaves}" if shape.levels == 3 else "spine"


def _leaf(shape: Shape, leaf: int) -> Iterator[Machine]:
    above = _above_leaf(shape, leaf)
    yield Machine(
        f"leaf{leaf}", "switch", above, shape.uplink if above else 0, is_delayed=bool(shape.latency_us)
    )
    for i in range(shape.nodes):
        number = leaf * shape.nodes + i
        yield Machine(f"n{number}", "node", f"leaf{leaf}", shape.rate, f"10.77.{leaf}.{i + 1}")


def _address(third_bytes: Sequence[int], number: int) -> str:
    group, place = divmod(number, _most_of_a_byte)
    return f"10.77.{third_bytes[group]}.{place + 1}"


def _card(node: Machine, number: int) -> Machine:
    return Machine(_card_name(node.name), "card", node.parent, node.rate, _address(_of_cards, number))


def _cards(shape: Shape, machines: list[Machine]) -> tuple[Machine, ...]:
    nodes = [machine for machine in machines if machine.kind == "node"] if shape.card_cores else []
    return tuple(_card(node, number) for number, node in enumerate(nodes))


def _with_address(switch: Machine, numbers: Iterator[int]) -> Machine:
    return replace(switch, address=_address(_of_switches, next(numbers)))


def _aggregating(machines: Sequence[Machine]) -> list[Machine]:
    """Only who has an address can be asked for more than forwarding: what a switch with one link downwards
    would add up is one machine's."""
    numbers = itertools.count()
    links = Counter(each.parent for each in machines)

    def joins(each: Machine) -> bool:
        return each.kind == "switch" and (not each.parent or links[each.name] > 1)

    return [_with_address(each, numbers) if joins(each) else each for each in machines]


def build(shape: Shape) -> Tree:
    machines = list(_upper_switches(shape))
    for leaf in range(shape.leaves):
        machines.extend(_leaf(shape, leaf))
    if shape.aggregates:
        machines = _aggregating(machines)
    root = machines[0].name
    head = Machine(HEAD, "head", root, shape.uplink, HEAD_ADDRESS)
    return Tree((*machines, head), _cards(shape, machines))


def choose_nodes(tree: Tree, text: str) -> list[str]:
    """n1,n3 or n0-n7, in the order written; all for nothing."""
    names = [node.name for node in tree.nodes()]
    if not text:
        return names
    chosen: list[str] = []
    for word in text.split(","):
        first, _, last = word.strip().partition("-")
        for end in filter(None, (first, last)):
            if end not in names:
                raise CommandError(f"no node named '{end}'; there are {names[0]} to {names[-1]}")
        if not first:
            raise CommandError(f"'{text}' is no list of nodes; write for example n0,n2 or n0-n3")
        chosen.extend(names[names.index(first) : names.index(last or first) + 1])
    if len(set(chosen)) < len(chosen) or not chosen:
        raise CommandError(f"'{text}' names a node twice, or none")
    return chosen
