"""The Linux calls that make and enter namespaces, which Python 3.11 lacks, and where their tools are."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

MOUNT, UTS, IPC, USER, PID, NET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
NAMES = {MOUNT: "mount", UTS: "UTS", IPC: "IPC", USER: "user", PID: "PID", NET: "network"}

_MS_BIND, _MS_MOVE, _MS_REC, _MS_PRIVATE = 4096, 8192, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36
_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, doing: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")


def _described(namespaces: int) -> str:
    return ", ".join(name for flag, name in NAMES.items() if namespaces & flag)


def unshare(namespaces: int) -> None:
    _checked(_libc.unshare(namespaces), f"new namespaces: {_described(namespaces)}")


def enter(pid: int, namespaces: int) -> None:
    """All of them at once, by pidfd (Linux 5.8). A PID namespace is for the children of the caller."""
    descriptor = os.pidfd_open(pid)
    try:
        _checked(_libc.setns(descriptor, namespaces), f"entering namespaces of process {pid}")
    finally:
        os.close(descriptor)


def _mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    words = [word.encode() for word in (source, target, kind)]
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), options.encode()), f"mount ({kind}) on {target}")


def mount(kind: str, target: Path, options: str = "") -> None:
    _mount(kind, str(target), kind, 0, options)


def bind(source: str | Path, target: Path) -> None:
    _mount(str(source), str(target), "bind", _MS_BIND | _MS_REC, "")


def move_mount(source: Path, target: Path) -> None:
    _mount(str(source), str(target), "move", _MS_MOVE, "")


def keep_mounts_private() -> None:
    """Nothing that is mounted from here on reaches the machine's own tree."""
    _mount("none", "/", "private", _MS_REC | _MS_PRIVATE, "")


def die_with_parent(number: signal.Signals) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def adopt_orphans() -> None:
    """What a child leaves behind comes to this process instead of to the machine's first one."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_process_name(name: str) -> None:
    _libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)


def set_host_name(name: str) -> None:
    _checked(_libc.sethostname(name.encode(), len(name)), "setting the host name")


def search_path() -> str:
    """With the folders of ip and tc, where the PATH of ordinary users does not look."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join([*folders, *(more for more in ("/usr/sbin", "/sbin") if more not in folders)])
