#!/usr/bin/env python3
"""Runs a command beside a tree of `hocket-switch` that fails all the time: a root and two leaves, which are
killed and started again where they were, stopped and continued, and whose connections are cut and held up.

    with_faulty_switches.py HOCKET_SWITCH COMMAND...

Exit status: the command's own. The command finds HOCKET_SWITCH, the first leaf's place, and TEST_LEAVES, of
both. Nothing goes wrong before it has made the file that TEST_STARTED names: a job that starts without its
switches does without them. What goes wrong then, and when, is drawn from a seed that is printed. Variables:

    TEST_FAULT_SEED   repeats one
    TEST_FAULTS       which of them: kill,stop,cut,hold (the preset), or none
    TEST_FAULT_PAUSE  seconds between two of them, at most (0.5)
    TEST_STOP         seconds for which a switch is stopped, at most (0.5)
    TEST_KILL_EVERY   besides, a leaf is killed whenever it has sent or got so many bytes (0: not)

Standard library only.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

SAYS = "hocket-switch: listening on "
HOST = "127.0.0.1"
START_SECONDS = 10.0
DOWN_SECONDS = 0.6  # a killed one, at most


class Way:
    """Who wants to a switch comes by here, so that connections can be cut and held up."""

    def __init__(self) -> None:
        self.port = 0
        self.behind = 0
        self.bytes = 0
        self._server: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    async def open(self) -> None:
        for _ in range(100):
            with contextlib.suppress(OSError):
                self._server = await asyncio.start_server(self._pass_on, HOST, self.port)
                self.port = self._server.sockets[0].getsockname()[1]
                return
            await asyncio.sleep(0.05)
        sys.exit(f"with_faulty_switches: cannot listen at port {self.port}")

    def close(self) -> None:
        if self._server:
            self._server.close()
        self._server = None
        self.cut(1.0, random.Random(0))

    def cut(self, share: float, draw: random.Random) -> None:
        for end in list(self._ends):
            if draw.random() < share:
                end.transport.abort()

    async def hold(self, seconds: float) -> None:
        self._flows.clear()
        await asyncio.sleep(seconds)
        self._flows.set()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(HOST, self.behind)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._ends |= ends
        await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer))
        self._ends -= ends

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._flows.wait()
                self.bytes += len(data)
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()


class Switch:
    def __init__(self, program: str, way: Way, above: Way | None) -> None:
        self._program = program
        self.way = way
        self._above = above
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """At the port where it was; somebody else may have that for a moment."""
        parent = ["--parent", f"{HOST}:{self._above.port}"] if self._above else []
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            self._process = await asyncio.create_subprocess_exec(
                self._program,
                "--listen",
                f"{HOST}:{self.way.behind}",
                *parent,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            assert self._process.stdout
            line = (await self._process.stdout.readline()).decode().strip()
            if line.startswith(SAYS):
                self.way.behind = int(line.rpartition(":")[2])
                return await self.way.open()
            await self._process.wait()
            await asyncio.sleep(0.05)
        sys.exit("with_faulty_switches: hocket-switch does not listen")

    async def kill(self) -> None:
        """Nobody listens there any more."""
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self.way.close()

    async def stop(self, seconds: float) -> None:
        if not self._process or self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)


class Fate:
    """One thing goes wrong at a time; each switch is there again before the next."""

    def __init__(self, switches: list[Switch]) -> None:
        self.seed = int(os.environ.get("TEST_FAULT_SEED") or time.time_ns() % 1_000_000_000)
        self._draw = random.Random(self.seed)
        self._kinds = os.environ.get("TEST_FAULTS", "kill,stop,cut,hold").split(",")
        self._pause = float(os.environ.get("TEST_FAULT_PAUSE", "0.5"))
        self._stop = float(os.environ.get("TEST_STOP", "0.5"))
        self._kill_every = int(os.environ.get("TEST_KILL_EVERY", "0"))
        self._switches = switches
        self._turn = asyncio.Lock()
        self.counts: collections.Counter[str] = collections.Counter()

    async def strike(self, started: Path) -> None:
        await self._await(started)
        while self._kinds != ["none"]:
            await asyncio.sleep(self._draw.uniform(0.05, self._pause))
            async with self._turn:
                await self._strike_once(self._draw.choice(self._kinds), self._draw.choice(self._switches))

    async def _strike_once(self, kind: str, switch: Switch) -> None:
        self.counts[kind] += 1
        if kind == "kill":
            await self._kill(switch, self._draw.uniform(0, DOWN_SECONDS))
        elif kind == "stop":
            await switch.stop(self._draw.uniform(0.02, self._stop))
        elif kind == "cut":
            switch.way.cut(self._draw.choice((0.3, 1.0)), self._draw)
        else:
            await switch.way.hold(self._draw.uniform(0.005, 0.3))

    async def _kill(self, switch: Switch, seconds: float) -> None:
        await switch.kill()
        await asyncio.sleep(seconds)
        await switch.start()

    @staticmethod
    async def _await(started: Path) -> None:
        while not started.exists():
            await asyncio.sleep(0.01)

    async def count_bytes(self, started: Path) -> None:
        """So that a leaf goes at every phase of what passes through it."""
        await self._await(started)
        while self._kill_every:
            await asyncio.sleep(0)
            for leaf in self._switches[1:]:
                if leaf.way.bytes < self._kill_every:
                    continue
                async with self._turn:
                    self.counts["kill"] += 1
                    await self._kill(leaf, 0)
                leaf.way.bytes = 0


async def run(program: str, command: list[str], started: Path) -> int:
    root_way = Way()
    root = Switch(program, root_way, None)
    switches = [root, *(Switch(program, Way(), root_way) for _ in range(2))]
    fate = Fate(switches)
    print(f"with_faulty_switches: seed {fate.seed}", flush=True)
    for switch in switches:
        await switch.start()
    leaves = [f"{HOST}:{leaf.way.port}" for leaf in switches[1:]]
    settings = {"HOCKET_SWITCH": leaves[0], "TEST_LEAVES": " ".join(leaves), "TEST_STARTED": str(started)}
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **settings})
    faults = [
        asyncio.create_task(fate.strike(started)),
        asyncio.create_task(fate.count_bytes(started)),
    ]
    status = await process.wait()
    for fault in faults:
        if fault.done():
            fault.result()  # raises what went wrong
        fault.cancel()
    await asyncio.gather(*faults, return_exceptions=True)
    for switch in switches:
        await switch.kill()
    told = ", ".join(f"{kind} {count}" for kind, count in sorted(fate.counts.items()))
    print(f"with_faulty_switches: {fate.counts.total()} faults: {told}", flush=True)
    return status if status >= 0 else 128 - status


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(sys.argv[1], sys.argv[2:], Path(folder) / "started"))


if __name__ == "__main__":
    sys.exit(main())
