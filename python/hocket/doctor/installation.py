"""Probes of what is installed: the library, its plugins, the MPIs, and Hocket under each of them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from hocket import _paths, launch, mpis, processes, reports
from hocket.bench.program import bench_program
from hocket.doctor.finding import Finding, Verdict
from hocket.errors import CommandError

_build_hint = "make build, or pip install ."
_job_seconds = 60.0
_worker_seconds = 20.0


def library() -> Finding:
    file = _paths.library()
    if not file.exists():
        return Finding("libhocket.so", Verdict.bad, f"not at {file}", _build_hint)
    if not _paths.hocket_exec().exists():
        return Finding("hocket-exec", Verdict.bad, f"not at {_paths.hocket_exec()}", _build_hint)
    run = subprocess.run([str(_paths.hocket_exec()), "true"], capture_output=True, text=True, check=False)
    if run.returncode or run.stderr:
        problem = run.stderr.strip() or f"exit status {run.returncode}"
        return Finding("libhocket.so", Verdict.bad, f"'hocket-exec true' fails: {problem}", _build_hint)
    return Finding("libhocket.so", Verdict.good, str(file))


def plugins() -> Finding:
    missing = [family for family in ("ompi", "mpich", "abi") if not _paths.library(family).exists()]
    if missing:
        return Finding("plugins", Verdict.bad, f"missing for {', '.join(missing)}", _build_hint)
    return Finding("plugins", Verdict.good, "Open MPI, MPICH (also Intel MPI), MPI-5 standard ABI")


def _remote_workers(where: str, told: processes.Finished) -> Finding:
    """Workers that HOCKET_WORKER_HOST asks for."""
    if told.status == 0:
        link = told.output.strip().rpartition("; ")[2].removesuffix(" to 1")
        return Finding("workers", Verdict.good, f"run at {where}, reached by {link}")
    lines = told.errors.strip().splitlines() or [f"exit status {told.status}"]
    return Finding(
        "workers",
        Verdict.bad,
        f"none at {where}: {lines[-1].removeprefix('hocketd: ')}",
        f"there: hocketd --listen {where} --key FILE; here: HOCKET_WORKER_KEY=FILE with the same key",
    )


def workers() -> Finding:
    """What HOCKET_WORKERS=1 would speak between nodes."""
    try:
        told = processes.run_captured([str(_paths.worker()), "--network"], dict(os.environ), _worker_seconds)
    except OSError as problem:
        return Finding("workers", Verdict.bad, f"{_paths.worker()}: {problem.strerror}", _build_hint)
    if where := os.environ.get("HOCKET_WORKER_HOST"):
        return _remote_workers(where, told)
    if told.status != 0:
        lines = told.errors.strip().splitlines() or [f"exit status {told.status}"]
        return Finding(
            "workers",
            Verdict.weak,
            f"serve one node each: {lines[-1].removeprefix('hocketd: ')}",
            "apt-get install libucx-dev, then make build; UCX_TLS and UCX_NET_DEVICES choose its transports",
        )
    carriers = " ".join(told.output.split()).removesuffix(" to 1")
    return Finding("workers", Verdict.good, f"messages go by {carriers} for each other node")


def _absent(found: list[mpis.Mpi]) -> list[Finding]:
    here = {mpi.name for mpi in found}
    wanted = [name for name in ("openmpi", "mpich") if name not in here]
    rows = [Finding(name, Verdict.info, "not installed", mpis.how_to_get(name)) for name in wanted]
    if not found:
        rows.append(
            Finding(
                "MPI", Verdict.bad, "no MPI found", f"{mpis.how_to_get('openmpi')}, or hocket run --mpi PATH"
            )
        )
    return rows


def _native_reason(report: reports.Report) -> str:
    reasons = [row.why for row in report.rows if row.collective == "allreduce" and row.algorithm == "native"]
    return "; ".join([*dict.fromkeys(reasons), *report.notes]) or "the report names no reason"


def _job_finding(mpi: mpis.Mpi, name: str, file: Path, done: processes.Finished) -> Finding:
    if done.status != 0:
        lines = (done.errors or done.output).strip().splitlines()
        why = (
            "it did not end in time"
            if done.timed_out
            else (lines[0] if lines else f"exit status {done.status}")
        )
        return Finding(name, Verdict.bad, f"2 ranks under hocket-exec: {why}", "HOCKET_VERBOSE=1 tells more")
    if not file.exists() or not file.stat().st_size:
        return Finding(name, Verdict.weak, "2 ranks ran, but not under Hocket", "HOCKET_VERBOSE=1 tells why")
    report = reports.read(file)
    if any(row.collective == "allreduce" and row.algorithm != "native" for row in report.rows):
        return Finding(name, Verdict.good, "2 ranks ran an allreduce in Hocket, with right results")
    return Finding(
        name,
        Verdict.weak,
        f"all calls were left to the MPI: {_native_reason(report)}",
        "HOCKET_VERBOSE=1 tells more",
    )


def _live(mpi: mpis.Mpi) -> Finding:
    name = f"{mpi.name} {mpi.version()}"
    if mpi.name == "debian-mpich":
        return Finding(name, Verdict.info, f"{mpi.launcher} (its libmpich.so.12 is not tried live)")
    with tempfile.TemporaryDirectory(prefix="hocket-doctor-") as folder:
        file = Path(folder) / "report.jsonl"
        program = [
            str(bench_program(mpi.family)),
            "--validate-only",
            "--collectives",
            "allreduce",
            "--sizes",
            "8",
        ]
        command = mpi.command(2, launch.with_hocket(program))
        done = processes.run_captured(command, launch.environment(mpi, HOCKET_REPORT=str(file)), _job_seconds)
        return _job_finding(mpi, name, file, done)


def mpi_findings(live: bool) -> list[Finding]:
    found = mpis.discover()
    rows = _absent(found)
    for mpi in found:
        try:
            rows.append(
                _live(mpi)
                if live
                else Finding(f"{mpi.name} {mpi.version()}", Verdict.good, str(mpi.launcher))
            )
        except CommandError as problem:
            rows.append(Finding(mpi.name, Verdict.bad, str(problem), _build_hint))
    return rows


def settings() -> list[Finding]:
    """HOCKET_ variables that are set now: what surprises most people is what they set yesterday."""
    names = [name for name in sorted(os.environ) if name.startswith("HOCKET")]
    return [Finding(name, Verdict.info, f"set to '{os.environ[name]}'") for name in names]
