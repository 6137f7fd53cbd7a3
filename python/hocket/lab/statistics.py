"""What went over each link, both ways, as the token buckets at its ends counted it, headers included."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from hocket.lab.lab import Lab
from hocket.lab.tree import Machine

_mark = "@"
_qdisc = re.compile(
    r"^qdisc tbf \S+ dev (\S+) root.*?\n\s*Sent (\d+) bytes (\d+) pkts? \(dropped (\d+)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Counted:
    bytes: int
    packets: int
    dropped: int


@dataclass(frozen=True)
class Link:
    lower: str
    upper: str
    up: Counted
    down: Counted

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def parse(text: str) -> dict[str, Counted]:
    """Of `tc -s qdisc show`: device -> what its token bucket let through."""
    found = re.split(r"^(?=qdisc )", text, flags=re.MULTILINE)
    matches = [matched for part in found if (matched := _qdisc.search(part))]
    return {each[1]: Counted(int(each[2]), int(each[3]), int(each[4])) for each in matches}


def _script(lab: Lab) -> str:
    ends = (lab.tree.lower_end(each) for each in lab.tree.machines if each.name not in lab.dead)
    return "".join(
        f"echo {_mark}{each.name}; nsenter -t {lab.pids[each.name]} -n tc -s qdisc show\n" for each in ends
    )


def _by_machine(text: str) -> dict[str, dict[str, Counted]]:
    sections = (part.partition("\n") for part in text.split(_mark)[1:])
    return {name: parse(body) for name, _, body in sections}


def _link(machine: Machine, end: Machine, counted: dict[str, dict[str, Counted]]) -> Link:
    up = counted[end.name][end.interface]
    return Link(machine.name, machine.parent, up, counted[machine.parent][machine.name])


def read(lab: Lab) -> list[Link]:
    """Of all links but those of dead nodes, whose counters died with them."""
    counted = _by_machine(lab.answer("sh", "-e", text=_script(lab)))
    living = (machine for machine in lab.tree.linked() if machine.name not in lab.dead)
    return [_link(machine, lab.tree.lower_end(machine), counted) for machine in living]
