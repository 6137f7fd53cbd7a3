#!/usr/bin/env python3
"""Launches a program on n ranks of this machine under one of the MPIs that tests use.

    mpi_launch.py --family mpich --ranks 4 [--prefix DIR] [--hocket-exec PATH] [--remote-worker HOCKETD]
                  [--switch HOCKET_SWITCH] [--faulty-switches HOCKET_SWITCH] [--sanitized] [--seconds 60]
                  [--env A=B] -- PROGRAM...

Families: openmpi, mpich, abi, impi are the embedded ones below --prefix (abi = MPICH's standard-ABI library);
debian_openmpi and debian_mpich are apt's. A family that is not there exits 77 (a skip) and says why.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from run_limited import run_limited

EXIT_SKIPPED = 77


def _open_mpi(ranks: int) -> list[str]:
    return ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]


def _hydra(ranks: int) -> list[str]:
    return ["-n", str(ranks)]


# family -> (the launcher's path below the prefix or its name in PATH, its arguments)
LAUNCHERS: dict[str, tuple[str, Callable[[int], list[str]]]] = {
    "openmpi": ("openmpi/bin/mpirun", _open_mpi),
    "mpich": ("mpich/bin/mpiexec", _hydra),
    "abi": ("mpich/bin/mpiexec", _hydra),
    "impi": ("impi/bin/mpiexec.hydra", _hydra),
    "debian_openmpi": ("mpirun.openmpi", _open_mpi),
    "debian_mpich": ("mpiexec.mpich", _hydra),
}
PACKAGES = {"debian_openmpi": "openmpi-bin", "debian_mpich": "mpich"}


def find_launcher(family: str, prefix: Path) -> str | None:
    name = LAUNCHERS[family][0]
    if family in PACKAGES:
        return shutil.which(name)
    path = (prefix / name).resolve()
    return str(path) if path.exists() else None


def how_to_get(family: str) -> str:
    if family in PACKAGES:
        return f"apt-get install {PACKAGES[family]}"
    return f"python3 python/hocket/host_mpi.py --into .venv/opt {LAUNCHERS[family][0].partition('/')[0]}"


def launch_command(family: str, prefix: Path, ranks: int) -> list[str] | None:
    """The launcher with its arguments, or None when this MPI is not installed."""
    launcher = find_launcher(family, prefix)
    return None if launcher is None else [launcher, *LAUNCHERS[family][1](ranks)]


def launch_environment(family: str, prefix: Path) -> dict[str, str]:
    """What a program that does not record where its MPI is (mpi4py, IMB) needs to find this one; and none of
    Hocket's variables: whoever runs tests may have set some, and each changes what is tested."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HOCKET")}
    if family not in PACKAGES:
        folder = str((prefix / LAUNCHERS[family][0]).resolve().parent.parent / "lib")
        present = environment.get("LD_LIBRARY_PATH", "")
        environment["LD_LIBRARY_PATH"] = f"{folder}:{present}" if present else folder
    if family == "impi":
        environment["I_MPI_ROOT"] = str((prefix / "impi").resolve())
    environment.setdefault("OMPI_MCA_btl_base_warn_component_unused", "0")
    return environment


def run_sanitized(command: list[str], seconds: float, environment: dict[str, str]) -> int:
    """What was built with a sanitizer: Hocket is preloaded before its library, and the MPI keeps memory to
    the end. Workers have given up their standard streams, and ranks go on without them: what is found is in
    files, and any is a failure."""
    with tempfile.TemporaryDirectory(prefix="hocket-sanitized-") as folder:
        reports = f"log_path={folder}/report"
        options = {
            "ASAN_OPTIONS": f"verify_asan_link_order=0:detect_leaks=0:{reports}",
            "UBSAN_OPTIONS": f"print_stacktrace=1:{reports}",
        }
        status = run_limited(command, seconds, {**environment, **options})
        found = [path.read_text(errors="replace") for path in sorted(Path(folder).iterdir())]
    for text in found:
        print(text)
    return status or int(bool(found))


def beside(script: str, program: str, command: list[str]) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve().parent / script), program, *command]


def main() -> int:
    parser = argparse.ArgumentParser(description="launch a program under one of the MPIs that tests use")
    parser.add_argument("--family", choices=sorted(LAUNCHERS), required=True)
    parser.add_argument(
        "--prefix", type=Path, default=Path(__file__).resolve().parent.parent / ".venv" / "opt"
    )
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--hocket-exec", help="put this hocket-exec in front of the program")
    parser.add_argument(
        "--remote-worker", metavar="HOCKETD", help="its workers run there, as on another host"
    )
    parser.add_argument("--switch", metavar="HOCKET_SWITCH", help="beside a tree of two of these")
    parser.add_argument("--faulty-switches", metavar="HOCKET_SWITCH", help="beside a tree that fails")
    parser.add_argument("--sanitized", action="store_true", help="everything is built with a sanitizer")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for the program")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()

    launcher = launch_command(arguments.family, arguments.prefix, arguments.ranks)
    if launcher is None:
        print(f"SKIPPED: no {arguments.family} here ({how_to_get(arguments.family)})")
        return EXIT_SKIPPED
    if arguments.remote_worker:
        launcher = beside("with_remote_worker.py", arguments.remote_worker, launcher)
    if arguments.switch:
        launcher = beside("with_switch.py", arguments.switch, launcher)
    if arguments.faulty_switches:
        launcher = beside("with_faulty_switches.py", arguments.faulty_switches, launcher)
    in_front = [arguments.hocket_exec] if arguments.hocket_exec else []
    environment = launch_environment(arguments.family, arguments.prefix)
    environment.update(entry.split("=", 1) for entry in arguments.env)
    run = run_sanitized if arguments.sanitized else run_limited
    return run([*launcher, *in_front, *arguments.command], arguments.seconds, environment)


if __name__ == "__main__":
    sys.exit(main())
