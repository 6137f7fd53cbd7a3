"""Background traffic between nodes of a lab. It ends with the process that asked for it."""

from __future__ import annotations

import contextlib
import os
import random
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hocket.errors import CommandError
from hocket.lab import visible
from hocket.lab.lab import Lab

_ports = range(20000, 30000)
_stream = str(Path(__file__).with_name("stream.py"))


def _commands(lab: Lab, nodes: Sequence[str], count: int) -> list[list[str]]:
    addresses = [lab.tree.named(name).address for name in nodes]
    port = str(random.choice(_ports))  # two traffics at a time must not meet
    return [
        lab.on_head(
            lab.remote_shell, name, sys.executable, "-I", _stream, str(i), str(count), port, *addresses
        )
        for i, name in enumerate(nodes)
    ]


@contextlib.contextmanager
def running(lab: Lab, nodes: Sequence[str], count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Each of the nodes sends `count` bytes to each other one, again and again."""
    if len(nodes) < 2 or count < 1:
        raise CommandError("traffic needs two nodes and one byte at least")
    visible.make(lab, visible.of_job([]))
    streams = [
        subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        for command in _commands(lab, nodes, count)
    ]
    try:
        yield streams
    finally:
        _end(streams)


def _end(streams: list[subprocess.Popen[bytes]]) -> None:
    """They end by themselves when their standard input does."""
    for stream in streams:
        if stream.stdin:
            stream.stdin.close()
    for stream in streams:
        try:
            stream.wait(timeout=5)
        except subprocess.TimeoutExpired:
            stream.kill()
            stream.wait()


def wait(streams: list[subprocess.Popen[bytes]], seconds: float | None) -> None:
    """Until the time is over, or one of them has failed."""
    ends = {os.pidfd_open(stream.pid): stream for stream in streams}
    try:
        ended = select.select(list(ends), [], [], seconds)[0]
    finally:
        for descriptor in ends:
            os.close(descriptor)
    if ended:
        raise CommandError(f"the traffic ended by itself (status {ends[ended[0]].wait()})", 1)
