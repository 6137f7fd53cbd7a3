"""What `ip -batch` and `tc -batch` are told inside each machine of a lab.

Burst and segment size belong together: a bucket cuts a segment that is larger than its burst into packets,
which costs so much CPU that fast links are not reached. The queues are so deep that nothing is ever dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hocket.lab import machine
from hocket.lab.tree import HEAD, Machine, Tree


@dataclass(frozen=True)
class Packets:
    mtu: int
    burst: str


_usual = Packets(1500, "16kb")
_delayed = Packets(9000, "18kb")  # delayed links cannot segment later than here, so packets have to be large
_segment = 15000
_queue = "32mb"


def packets(latency_us: int) -> Packets:
    return _delayed if latency_us else _usual


def _bridge(size: Packets) -> list[str]:
    return [
        f"link add name br0 mtu {size.mtu} type bridge mcast_snooping 0",
        f"link set dev br0 gso_max_size {_segment}",
        "link set dev br0 up",
    ]


def _port(child: Machine, pid: int, size: Packets) -> list[str]:
    peer = f"peer name {child.interface} mtu {size.mtu} netns {pid}"
    return [
        f"link add name {child.name} mtu {size.mtu} type veth {peer}",
        f"link set dev {child.name} gso_max_size {_segment} master br0 up",
    ]


def switch_links(tree: Tree, switch: Machine, pids: Mapping[str, int], size: Packets) -> str:
    """The bridge, and the links to all that hang below the switch."""
    lines = ["link set dev lo up", *_bridge(size)]
    for child in tree.below(switch.name):
        lines.extend(_port(child, pids[child.name], size))
    return "\n".join(lines) + "\n"


def _shape(interface: str, rate: int, size: Packets) -> str:
    return f"qdisc replace dev {interface} root tbf rate {rate}bit burst {size.burst} limit {_queue}"


def switch_shaping(tree: Tree, switch: Machine, size: Packets) -> str:
    """The downward half of the links below it."""
    return "".join(_shape(child.name, child.rate, size) + "\n" for child in tree.below(switch.name))


def own_end(machine: Machine) -> str:
    """The lower end of a machine's link, once the switch above has made it."""
    name = machine.interface
    lines = [f"link set dev {name} gso_max_size {_segment}"]
    if machine.kind == "switch":
        lines.append(f"link set dev {name} master br0")
    else:
        lines += ["link set dev lo up", f"address add {machine.address}/16 dev {name}"]
    return "\n".join([*lines, f"link set dev {name} up"]) + "\n"


def own_shaping(machine: Machine, size: Packets) -> str:
    return _shape(machine.interface, machine.rate, size) + "\n"


def hosts(tree: Tree) -> str:
    """/etc/hosts of all machines."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{each.address} {each.name}" for each in tree.machines if each.address]
    return "\n".join(lines) + "\n"


def remote_shell(pids: Mapping[str, int], tree: Tree) -> str:
    """The script that launchers take for ssh: `rsh [options] HOST COMMAND...` runs it on the host.

    The environment comes along, unlike with ssh; the working folder too where the host has it. When a
    node dies its shells stay, as ssh does, which hears nothing any more.
    """
    cases = [f"  {each.name}|{each.address}) pid={pids[each.name]} ;;" for each in tree.nodes()]
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
