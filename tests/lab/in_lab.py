"""Labs for tests: made and ended by `hocket lab`, judged by what is left. Each job has a limit.

A test is skipped (status 77) where namespaces are not allowed or the MPI is missing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "python")]

from hocket.lab import lab as labs  # noqa: E402
from waiting import until  # noqa: E402

EXIT_SKIPPED = 77
LAUNCHER_SECONDS = 4.0  # until all that its ranks have said is told
failures: list[str] = []


def expect(condition: bool, what: str, output: str = "") -> None:
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}\n{output}", flush=True)


def skip(reason: str) -> None:
    print(f"SKIPPED: {reason}")
    sys.exit(EXIT_SKIPPED)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", help="openmpi or mpich")
    parser.add_argument("--prefix", type=Path, help="of the MPIs, each in a folder of its own")
    parser.add_argument("--build", type=Path, help="the build tree: Hocket, and tests/ with the programs")
    return parser


@dataclass(frozen=True)
class Ended:
    status: int
    output: str
    seconds: float


@dataclass(frozen=True)
class Setting:
    """What a test runs: Hocket from the build tree, and an MPI."""

    build: Path
    family: str
    prefix: Path

    def program(self, name: str) -> str:
        return str(self.build / "tests" / f"{name}.{self.family}")


def setting_of(parsed: argparse.Namespace) -> Setting:
    found = Setting(parsed.build, parsed.family, parsed.prefix)
    if not (found.prefix / found.family / "bin").is_dir():
        skip(f"no {found.family} here")
    return found


class RunningLab:
    """One that is up, under a name of its own, seen by nobody else."""

    def __init__(self, folder: str, setting: Setting | None) -> None:
        self.setting = setting
        self.environment = {
            **os.environ,
            "XDG_RUNTIME_DIR": folder,
            "PYTHONPATH": str(ROOT / "python"),
            **({"HOCKET_PREFIX": str(setting.build)} if setting else {}),
        }

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "hocket", "lab", *words]

    def do(self, *words: str, **variables: str) -> Ended:
        """A verb, within half a minute."""
        began = time.monotonic()
        done = subprocess.run(
            self.command(*words),
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
        return Ended(done.returncode, done.stdout, time.monotonic() - began)

    def job(self, *words: str) -> list[str]:
        assert self.setting
        mpi = str(self.setting.prefix / self.setting.family)
        return self.command("run", "-q", "--mpi", mpi, *words)

    def run(self, *words: str, seconds: float, **variables: str) -> Ended:
        """A job to its end, or to that of its time: then its status is 124."""
        return self.run_beside(lambda: None, "", *words, seconds=seconds, **variables)

    def run_beside(
        self,
        then: Callable[[], None],
        sign: str,
        *words: str,
        seconds: float,
        launcher_seconds: float = LAUNCHER_SECONDS,
        **variables: str,
    ) -> Ended:
        """The same; once the job has said `sign`, something happens to it, and then its launcher has no more
        than a few seconds: where nodes are gone, it may not end."""
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as output:
            started = subprocess.Popen(
                self.job(*words),
                env={**self.environment, **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

            def text() -> str:
                output.flush()
                return os.pread(output.fileno(), 1 << 20, 0).decode(errors="replace")

            if sign:
                until(lambda: sign in text() or started.poll() is not None, seconds)
            then()
            left = began + seconds - time.monotonic()
            try:
                status = started.wait(max(min(left, launcher_seconds) if sign else left, 0.1))
            except subprocess.TimeoutExpired:
                status = 124
                end(started)
            return Ended(status, text(), time.monotonic() - began)

    def ranks(self, program: str, nodes: Sequence[str] = ("head",)) -> list[str]:
        """Processes of this program on these nodes; the head knows all: none where a job has ended."""
        name = Path(program).name[:15]
        script = "cat /proc/[0-9]*/comm"
        told = [self.do("shell", node, "--", "sh", "-c", script).output for node in nodes]
        return [line for text in told for line in text.split("\n") if line == name]


def end(started: subprocess.Popen[bytes]) -> None:
    """As an impatient user does: asked, then made to."""
    started.terminate()
    try:
        started.wait(3)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()


def _namespaces() -> set[int]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.add((folder / "ns" / "net").stat().st_ino)
    return found


def _below(pid: int) -> set[int]:
    """Namespaces of the network of all that a lab's supervisor has started."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    inside = {pid}
    while more := {child for child, parent in parents.items() if parent in inside} - inside:
        inside |= more
    found = set()
    for each in inside:
        with contextlib.suppress(OSError):
            found.add(Path(f"/proc/{each}/ns/net").stat().st_ino)
    return found


@contextlib.contextmanager
def lab(setting: Setting | None, *shape: str) -> Iterator[RunningLab]:
    """Up, and down again: then none of its networks is left, nor any interface of it on the machine."""
    interfaces = set(os.listdir("/sys/class/net"))
    with tempfile.TemporaryDirectory() as folder:
        made = RunningLab(folder, setting)
        up = made.do("up", *shape)
        if up.status == labs.EXIT_NO_NAMESPACES or "not found; to get it" in up.output:
            skip(up.output.strip())
        if up.status:
            raise RuntimeError(up.output)
        state = json.loads((Path(folder) / "hocket-lab" / "lab.json").read_text())
        networks = _below(state["pid"])
        try:
            yield made
        finally:
            down = made.do("down")
            expect(down.status == 0, "down", down.output)
            expect(until(lambda: not networks & _namespaces()), "no network of the lab is left")
            expect(set(os.listdir("/sys/class/net")) <= interfaces, "no interface of the lab is left")


def result(name: str, cases: Sequence[object]) -> int:
    print(f"{name}: {len(cases)} cases, {len(failures)} failures")
    return 1 if failures else 0
