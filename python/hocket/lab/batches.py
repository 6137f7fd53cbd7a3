"""What `ip -batch` and `tc -batch` are told inside each machine of a lab.

Burst and segment size belong together: a bucket cuts a segment that is larger than its burst into packets,
which costs so much CPU that fast links are not reached. The queues are so deep that nothing is ever dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket.lab import machine
from hocket.lab.tree import CARD_ADDRESS, CARD_DEVICE, HEAD, NODE_ADDRESS, SWITCH_ABOVE, Machine, Tree


@dataclass(frozen=True)
class Packets:
    mtu: int
    burst: str


_usual = Packets(1500, "16kb")
_delayed = Packets(9000, "18kb")  # delayed links cannot segment later than here, so packets have to be large
_segment = 15000
_queue = "32mb"
_no_groups: Mapping[str, Sequence[Path]] = {}


def packets(latency_us: int) -> Packets:
    return _delayed if latency_us else _usual


def _bridge(size: Packets) -> list[str]:
    return [
        f"link add name br0 mtu {size.mtu} type bridge mcast_snooping 0",
        f"link set dev br0 gso_max_size {_segment}",
        "link set dev br0 up",
    ]


def _port(name: str, peer: str, size: Packets) -> list[str]:
    """`peer`: what is at the other end, and where that is."""
    return [
        f"link add name {name} mtu {size.mtu} type veth peer name {peer}",
        f"link set dev {name} gso_max_size {_segment} master br0 up",
    ]


def _peer(end: Machine, pids: Mapping[str, int], size: Packets) -> str:
    return f"{end.interface} mtu {size.mtu} netns {pids[end.name]}"


def switch_links(tree: Tree, switch: Machine, pids: Mapping[str, int], size: Packets) -> str:
    """The bridge, with the switch's own address if it has one, and the links to all that hang below it."""
    lines = ["link set dev lo up", *_bridge(size)]
    if switch.address:
        lines.append(f"address add {switch.address}/16 dev br0")
    for child in tree.below(switch.name):
        lines.extend(_port(child.name, _peer(tree.lower_end(child), pids, size), size))
    return "\n".join(lines) + "\n"


def _address(address: str, device: str) -> list[str]:
    return [f"address add {address} dev {device}", f"link set dev {device} up"]


def card_links(node: Machine, card: Machine, pids: Mapping[str, int], size: Packets) -> str:
    """In the card: a bridge for its node and for itself, and the link to its node that stands in for PCIe.

    The bridge has no address, since newer UCX passes over bridges: the card has a port, as its node has.
    """
    lines = [
        "link set dev lo up",
        *_bridge(size),
        *_port(node.name, _peer(node, pids, size), size),
        *_port(card.name, f"{CARD_DEVICE} mtu {size.mtu}", size),
        f"link set dev {CARD_DEVICE} gso_max_size {_segment}",
        *_address(f"{card.address}/16", CARD_DEVICE),
        f"link add name host0 type veth peer name card0 netns {pids[node.name]}",
        *_address(f"{CARD_ADDRESS}/30", "host0"),
    ]
    return "\n".join(lines) + "\n"


def card_end() -> str:
    """In the node, of the link to its card."""
    return "\n".join(_address(f"{NODE_ADDRESS}/30", "card0")) + "\n"


def _shape(interface: str, rate: int, size: Packets) -> str:
    return f"qdisc replace dev {interface} root tbf rate {rate}bit burst {size.burst} limit {_queue}"


def switch_shaping(tree: Tree, switch: Machine, size: Packets) -> str:
    """The downward half of the links below it."""
    return "".join(_shape(child.name, child.rate, size) + "\n" for child in tree.below(switch.name))


def own_end(machine: Machine) -> str:
    """The lower end of a machine's link, once the switch above has made it."""
    name = machine.interface
    lines = [f"link set dev {name} gso_max_size {_segment}"]
    if machine.kind in ("switch", "card"):
        lines.append(f"link set dev {name} master br0")
    else:
        lines += ["link set dev lo up", f"address add {machine.address}/16 dev {name}"]
    return "\n".join([*lines, f"link set dev {name} up"]) + "\n"


def own_shaping(machine: Machine, size: Packets) -> str:
    return _shape(machine.interface, machine.rate, size) + "\n"


def hosts(tree: Tree, above: Machine | None = None) -> str:
    """/etc/hosts of the machines below one switch, or of all others."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{each.address} {each.name}" for each in (*tree.machines, *tree.cards) if each.address]
    if above:
        lines.append(f"{above.address} {SWITCH_ABOVE}")
    return "\n".join(lines) + "\n"


def _joining(groups: Sequence[Path]) -> str:
    """By a shell, as machine.join()."""
    return "".join(f"; echo 0 >{members}" for members in groups)


def remote_shell(
    pids: Mapping[str, int], tree: Tree, groups: Mapping[str, Sequence[Path]] = _no_groups
) -> str:
    """The script that launchers take for ssh: `rsh [options] HOST COMMAND...` runs it on the host.

    The environment comes along, unlike with ssh; the working folder too where the host has it. When a
    node dies its shells stay, as ssh does, which hears nothing any more. `groups`: member files of the
    control groups that the machine's processes belong to.
    """
    cases = [
        f"  {each.name}|{each.address}) pid={pids[each.name]}{_joining(groups.get(each.name, ()))} ;;"
        for each in (*tree.nodes(), *tree.cards)
    ]
    head = tree.named(HEAD)
    return "\n".join(
        [
            "#!/bin/sh",
            'while :; do case "$1" in -l|-p|-i|-o|-F) shift 2 ;; -*) shift ;; *) break ;; esac; done',
            "host=$1; shift",
            'case "$host" in',
            *cases,
            f'  {head.name}|{head.address}) exec /bin/sh -c "$*" ;;',
            '  *) echo "hocket lab: no node named $host" >&2; exit 255 ;;',
            "esac",
            f"dead={machine.FOLDER}/dead.$pid",
            'test -e "$dead" && echo "hocket lab: $host is dead" >&2 && exit 255',
            'export LAB_FOLDER="$PWD"',
            'nsenter -t "$pid" -m -u -i -n -p -- /bin/sh -c "cd \\"\\$LAB_FOLDER\\" 2>/dev/null; $*"',
            "status=$?",
            'test -e "$dead" && exec sleep 1000000',
            "exit $status",
            "",
        ]
    )
