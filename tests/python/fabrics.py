"""InfiniBand fabrics of two and three levels of switches: for ibsim, and as the tree that they are."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_run_ibsim = """
set -e
ip link set lo up
ibsim -s -n -N {nodes} -S {switches} -P {ports} {netlist} </dev/null >{log} 2>&1 &
for i in $(seq 400); do
  grep -q '@sim:ctl' /proc/net/unix && break
  kill -0 $! || {{ cat {log}; exit 1; }}
  sleep 0.05
done >&2
LD_PRELOAD={library} SIM_HOST={host} timeout 60 ibnetdiscover {options}
"""


@dataclass
class Fabric:
    cables: list[tuple[str, str]] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    tree: list[str] = field(default_factory=list)  # its text form
    systems: dict[str, int] = field(default_factory=dict)  # of switches in a chassis, its GUID

    def plug(self, a: str, b: str) -> None:
        self.cables.append((a, b))

    def netlist(self) -> str:
        ports: dict[str, list[str]] = defaultdict(list)
        for a, b in self.cables:
            place_a, place_b = len(ports[a]) + 1, len(ports[b]) + 1
            ports[a].append(f'[{place_a}]\t"{b}"[{place_b}]')
            ports[b].append(f'[{place_b}]\t"{a}"[{place_a}]')
        hosts = set(self.hosts)
        blocks = [
            "\n".join(
                [*self._system(name), f'{"Hca" if name in hosts else "Switch"}\t{len(own)} "{name}"', *own]
            )
            for name, own in ports.items()
        ]
        return "\n\n".join(blocks) + "\n"

    def _system(self, name: str) -> list[str]:
        """Of a chip in a director, as ibnetdiscover knows it: vendor, device and system."""
        if name not in self.systems:
            return []
        return ["vendid=0x2c9", "devid=0xbd36", f"sysimgguid={self.systems[name]:#x}"]

    def add_leaf(self, name: str, hosts: int, depth: int) -> None:
        self.tree.append(f"{'  ' * depth}network {name}")
        for _ in range(hosts):
            host = f"n{len(self.hosts)}"
            self.hosts.append(host)
            self.tree.append(f"{'  ' * (depth + 1)}node {host}")
            self.plug(host, name)


def two_levels(leaves: int, hosts: int, spines: int) -> Fabric:
    """Every leaf has a cable to every spine."""
    fabric = Fabric(tree=["network network"])
    for leaf in range(leaves):
        fabric.add_leaf(f"leaf{leaf}", hosts, 1)
        for spine in range(spines):
            fabric.plug(f"leaf{leaf}", f"spine{spine}")
    return fabric


def three_levels(pods: int, leaves: int, hosts: int, uppers: int, cores: int) -> Fabric:
    """All `leaves` and `uppers` of a pod are connected; `cores` above each upper reach every pod."""
    fabric = Fabric(tree=["network network"])
    for pod in range(pods):
        others = f"+{uppers - 1}" if uppers > 1 else ""
        fabric.tree.append(f"  network upper{pod}_0{others}")
        for leaf in range(leaves):
            fabric.add_leaf(f"leaf{pod}_{leaf}", hosts, 2)
            for upper in range(uppers):
                fabric.plug(f"leaf{pod}_{leaf}", f"upper{pod}_{upper}")
        for upper in range(uppers):
            for core in range(cores):
                fabric.plug(f"upper{pod}_{upper}", f"core{upper}_{core}")
    return fabric


def fat_tree(k: int) -> Fabric:
    """Of switches with k ports: Al-Fares et al. 2008."""
    half = k // 2
    return three_levels(k, half, half, half, half)


def directors(chassis: int, lines: int, hosts: int, spines: int, cores: int) -> Fabric:
    """Each a chassis whose line chips have a cable to every spine chip, and, as a leaf beside them all, to
    every core: by cables alone, spines and cores are the same."""
    fabric = Fabric(tree=["network network"])
    for number in range(chassis):
        fabric.tree.append(f"  network director{number}")
        chip = f"MF0;director{number}:IS5600/{{}}/U1"
        names = [chip.format(f"L{line + 1:02}") for line in range(lines)]
        uppers = [chip.format(f"S{spine + 1:02}") for spine in range(spines)]
        fabric.systems |= dict.fromkeys((*names, *uppers), 0x2C90200404000 + number * 256)
        for name in names:
            fabric.add_leaf(name, hosts, 2)
            for upper in (*uppers, *(f"core{core}" for core in range(cores))):
                fabric.plug(name, upper)
    fabric.add_leaf("leaf", hosts, 1)
    for core in range(cores):
        fabric.plug("leaf", f"core{core}")
    return fabric


def discovered(fabric: Fabric, folder: Path, *options: str) -> str:
    """What the real ibnetdiscover prints of it, in namespaces that end with it. Skips without ibsim."""
    libraries = sorted(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
    if not libraries or not all(shutil.which(program) for program in ("ibsim", "ibnetdiscover", "ip")):
        pytest.skip("no simulated fabric: apt-get install ibsim-utils infiniband-diags iproute2")
    netlist = folder / "netlist"
    netlist.write_text(fabric.netlist())
    switches = len({name for cable in fabric.cables for name in cable} - set(fabric.hosts))
    script = _run_ibsim.format(
        nodes=len(fabric.hosts) + switches + 8,
        switches=switches + 16,
        ports=3 * len(fabric.cables) + 2 * switches + 64,
        netlist=netlist,
        log=folder / "ibsim.log",
        library=libraries[0],
        host=fabric.hosts[0],
        options=" ".join(options),
    )
    unshare = ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*unshare, "true"], capture_output=True, timeout=20, check=False).returncode != 0:
        pytest.skip("no user namespaces here, which keep simulated fabrics apart")
    done = subprocess.run(
        [*unshare, "bash", "-c", script],
        cwd=folder,  # ibsim's library makes folders where it is
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
