"""A process becomes a machine of the lab: its namespaces, its own /tmp, /dev/shm, /proc and /sys, its name.

It then only waits and reaps; whoever kills it takes the machine with all its processes and links away.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from hocket.lab import kernel

TMP = Path("/tmp")
FOLDER = TMP / ".hocket-lab"  # the same on all machines of a lab
HOST_TMP = TMP / ".host"  # the machine's own /tmp, from which programs are made visible

_shared_memory = Path("/dev/shm")
_own = kernel.NET | kernel.UTS | kernel.MOUNT
_socket_bytes = 1 << 20


@dataclass(frozen=True)
class Holder:
    name: str
    is_switch: bool
    hosts: Path  # what is its /etc/hosts
    groups: tuple[Path, ...] = ()  # member files of the control groups that all its processes belong to


def own_memory_folders(kept: dict[Path, Path]) -> None:
    """Empty /dev/shm and /tmp of its own, the latter with folders of the old one at new places: new -> old.

    The folders wait in /dev/shm meanwhile: a bind of what is covered already would show the cover as well.
    """
    kernel.mount("tmpfs", _shared_memory, "mode=1777")
    waiting = {new: _shared_memory / str(i) for i, new in enumerate(kept)}
    for new, old in kept.items():
        waiting[new].mkdir()
        kernel.bind(old, waiting[new])
    kernel.mount("tmpfs", TMP, "mode=1777")
    for new, place in waiting.items():
        new.mkdir()
        kernel.move_mount(place, new)
        place.rmdir()


def _setting(path: str, value: str) -> None:
    """Settings that not every kernel has, or lets a namespace choose."""
    with contextlib.suppress(OSError):
        Path("/proc/sys/net", path).write_text(value)


def quiet_network() -> None:
    """No IPv6 chatter in the counters; buffers that fit the queues; only losses slow TCP."""
    for group in ("all", "default"):
        _setting(f"ipv6/conf/{group}/disable_ipv6", "1")
    _setting("ipv4/tcp_congestion_control", "reno")
    _setting("ipv4/tcp_rmem", f"4096 131072 {_socket_bytes}")
    _setting("ipv4/tcp_wmem", f"4096 65536 {_socket_bytes}")


def be_named(name: str, hosts: Path) -> None:
    """The host name, and the lab's /etc/hosts and /etc/hostname."""
    kernel.set_host_name(name)
    own = FOLDER / f"hostname.{name}"
    own.write_text(name + "\n")
    for file, target in ((own, Path("/etc/hostname")), (hosts, Path("/etc/hosts"))):
        if target.exists():
            kernel.bind(file, target)


def let_go_of_terminal(*standard: int) -> None:
    """Whoever started the lab may be waiting for the end of what it prints."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in standard:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def rest() -> NoReturn:
    """The rest of a holder's life. Orphans of its PID namespace are reaped by being ignored."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    while True:
        signal.pause()


def join(groups: Iterable[Path]) -> None:
    """This process, and what it starts from here on."""
    for members in groups:
        members.write_text("0")


def _own_files(is_node: bool) -> None:
    own_memory_folders({HOST_TMP: HOST_TMP, FOLDER: FOLDER})
    if is_node:
        kernel.mount("proc", Path("/proc"))
    kernel.mount("sysfs", Path("/sys"))


def _become(holder: Holder, report: Callable[[str], None]) -> None:
    """`report` says the process id that the head knows it by, which its own /proc does not show."""
    pid = str(Path("/proc/self").readlink())
    kernel.set_process_name(f"lab {holder.name}")
    quiet_network()
    _own_files(not holder.is_switch)
    be_named(holder.name, holder.hosts)
    report(pid)


def _hold(holder: Holder, report: Callable[[str], None]) -> None:
    join(holder.groups)
    if holder.is_switch:
        kernel.unshare(_own)
    else:
        kernel.unshare(_own | kernel.IPC | kernel.PID)
        if os.fork():
            os._exit(0)  # the child is process 1 of the node
    _become(holder, report)


def start(holder: Holder, answers: int) -> None:
    """Forks the machine; it writes one line to `answers`: its name and its process id, or what went wrong."""
    if os.fork():
        return

    def report(text: str) -> None:
        os.write(answers, f"{holder.name} {text}\n".encode())

    try:
        let_go_of_terminal(0, 1, 2)
        _hold(holder, report)
        os.close(answers)
        rest()
    except OSError as problem:
        report(f"! {problem}")
    finally:
        os._exit(1)
