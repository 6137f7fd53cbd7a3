"""Folders as Linux has them below /sys/devices/system: of a recording, or of a machine that nobody has.

A recording is a text with a line for each file, "PATH CONTENT", of what describes CPUs and memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Cpu:
    number: int
    package: int = 0
    numa: int = 0
    l3: int | None = 0  # any number that those that share it have in common
    core: int = 0
    online: bool = True


def write(files: dict[str, str], folder: Path) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return folder


def recorded(text: str) -> dict[str, str]:
    lines = (line.partition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: content for name, _, content in lines}


def _mask(numbers: list[int]) -> str:
    """As the kernel writes it: words of 32 bits, the highest first."""
    bits = sum(1 << number for number in numbers)
    words = [f"{bits >> shift & 0xFFFFFFFF:08x}" for shift in range(0, max(numbers, default=0) + 1, 32)]
    return ",".join(reversed(words))


def _list(numbers: list[int]) -> str:
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def made(cpus: list[Cpu]) -> dict[str, str]:
    """hwloc reads masks, and our reader lists; the kernel has both."""
    online = [cpu for cpu in cpus if cpu.online]
    files = {"cpu/online": _list([c.number for c in online]), "cpu/possible": _list([c.number for c in cpus])}
    nodes = sorted({cpu.numa for cpu in cpus})
    files |= {"node/online": _list(nodes), "node/possible": _list(nodes)}
    for node in nodes:
        local = [cpu.number for cpu in online if cpu.numa == node]
        files |= {f"node/node{node}/cpulist": _list(local), f"node/node{node}/cpumap": _mask(local)}
        files[f"node/node{node}/meminfo"] = f"Node {node} MemTotal: 1048576 kB"
    for cpu in cpus:
        own = f"cpu/cpu{cpu.number}"
        files[f"{own}/online"] = str(int(cpu.online))
        if cpu.online:
            files |= {f"{own}/{name}": content for name, content in _of(cpu, online).items()}
    return files


def _of(cpu: Cpu, online: list[Cpu]) -> dict[str, str]:
    package = [c.number for c in online if c.package == cpu.package]
    core = [c.number for c in online if (c.package, c.core) == (cpu.package, cpu.core)]
    files = {
        "topology/physical_package_id": str(cpu.package),
        "topology/core_id": str(cpu.core),
        "topology/package_cpus": _mask(package),
        "topology/core_cpus": _mask(core),
        "topology/core_cpus_list": _list(core),
    }
    if cpu.l3 is not None:
        l3 = [c.number for c in online if (c.package, c.l3) == (cpu.package, cpu.l3)]
        files |= {"cache/index3/level": "3", "cache/index3/type": "Unified", "cache/index3/size": "16384K"}
        files |= {"cache/index3/shared_cpu_map": _mask(l3), "cache/index3/shared_cpu_list": _list(l3)}
    return files


def regular(packages: int, numas: int, l3s: int, cores: int, threads: int) -> list[Cpu]:
    """Each inside the one before; the first threads of all cores are numbered first, as Linux does on x86."""
    all_cores = packages * numas * l3s * cores
    cpus = []
    for number in range(all_cores * threads):
        core = number % all_cores
        l3 = core // cores
        numa = l3 // l3s
        cpus.append(Cpu(number, package=numa // numas, numa=numa, l3=l3, core=core))
    return cpus
