"""Latency without a delay queue, which many kernels lack: the receiving end of a link is polled by a timer.

A packet waits for the next turn of the timer, so the delay is quantised: 0 to T, and about T in a ping-pong.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

from hocket.lab import kernel
from hocket.lab.tree import Machine

_SIOCETHTOOL = 0x8946
_ETHTOOL_STSO, _ETHTOOL_SGRO = 0x1F, 0x2C
_for_ever = 2**31 - 1


class DelayError(Exception):
    """The kernel cannot do it."""


def _ethtool(interface: str, command: int, value: int) -> None:
    wanted = array.array("B", struct.pack("II", command, value))
    request = struct.pack("16sP8x", interface.encode(), wanted.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCETHTOOL, request)


def _inside(pid: int, action: Callable[[], None]) -> None:
    """Runs it in a child that has entered a machine's network and its /sys."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(OSError):
            kernel.enter(pid, kernel.NET | kernel.MOUNT)
            action()
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        raise DelayError("this kernel cannot delay links: it lacks GRO on veth, or napi_defer_hard_irqs")


def _receive_by_timer(interface: str, microseconds: int) -> None:
    _ethtool(interface, _ETHTOOL_SGRO, 1)
    device = Path("/sys/class/net", interface)
    (device / "gro_flush_timeout").write_text(str(microseconds * 1000))
    (device / "napi_defer_hard_irqs").write_text(str(_for_ever))


def apply(machine: Machine, pids: Mapping[str, int], microseconds: int) -> None:
    """To what arrives at the machine from the switch above; its sender must not segment late (TSO)."""
    _inside(pids[machine.name], lambda: _receive_by_timer(machine.interface, microseconds))
    _inside(pids[machine.parent], lambda: _ethtool(machine.name, _ETHTOOL_STSO, 0))
