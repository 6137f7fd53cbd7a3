"""Probes of the machine: cores, quota, memory, instruction sets."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hocket.doctor.finding import Finding, Verdict
from hocket.errors import CommandError

_root = Path("/")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def cpu_quota(root: Path = _root) -> float | None:
    """Cores that the control group allows, None when it sets no limit."""
    words = _read(root / "sys/fs/cgroup/cpu.max").split()
    if len(words) == 2 and words[0] != "max":
        return int(words[0]) / int(words[1])
    quota = _read(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    period = _read(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us")
    if quota and period and int(quota) > 0:
        return int(quota) / int(period)
    return None


def memory_limit(root: Path = _root) -> int | None:
    """Bytes that the control group allows, None when it sets no limit."""
    for name in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = _read(root / name)
        if text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def cores() -> Finding:
    allowed = len(os.sched_getaffinity(0))
    quota = cpu_quota()
    text = f"{allowed} of {os.cpu_count()} cores in the affinity mask"
    if quota is not None and quota < allowed:
        return Finding(
            "cores",
            Verdict.weak,
            f"{text}, but a quota of {quota:g} cores",
            f"ranks beyond {max(1, int(quota))} yield instead of spin; raise the control group's cpu.max",
        )
    return Finding("cores", Verdict.good, text + (", no quota" if quota is None else f", quota {quota:g}"))


def memory() -> Finding:
    available = 0
    for line in _read(Path("/proc/meminfo")).splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) << 10
    limit = memory_limit()
    text = f"{available / 2**30:.1f} GiB available" + (f", limit {limit / 2**30:.1f} GiB" if limit else "")
    if min(available, limit or available) < 256 << 20:
        return Finding(
            "memory", Verdict.weak, text, "set HOCKET_MEMORY to what may be used, or raise the limit"
        )
    return Finding("memory", Verdict.good, text)


def shared_memory_file_system() -> Finding:
    try:
        size = shutil.disk_usage("/dev/shm").total
    except OSError:
        return Finding("/dev/shm", Verdict.info, "none (Hocket does not need it; the MPI may)")
    return Finding("/dev/shm", Verdict.info, f"{size / 2**20:.0f} MiB (Hocket does not use it; the MPI may)")


def instruction_sets() -> Finding:
    from hocket.core import core

    try:
        names = core().available_isas()
    except CommandError as problem:
        return Finding("kernels", Verdict.bad, str(problem), "make build")
    return Finding("kernels", Verdict.good, f"{', '.join(names)}; {names[-1]} is used (HOCKET_ISA chooses)")
