"""hocket bench --workers: non-blocking collectives carried out by worker processes, in the lab."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hocket import mpis
from hocket.bench import applications, workers, workers_figures, workers_plan
from hocket.bench import workers_page as pages
from hocket.bench.jsonl import beside, schema_of
from hocket.bench.workers_plan import Job, Wanted
from hocket.console import console, show_table
from hocket.errors import CommandError

DEFAULT_MPI = "openmpi"


def _show(records: Sequence[Any]) -> None:
    lanes = [one for one in records if isinstance(one, workers.WorkerLane)]
    runs = [one for one in records if isinstance(one, applications.Timed)]
    told = [one for one in records if isinstance(one, workers.Metadata)]
    found = workers_figures.figures(lanes)
    show_table(pages.OVERLAP_HEADER, pages.overlap_rows(found))
    show_table(pages.BOUND_HEADER, pages.bound_rows(found))
    show_table(pages.OVERLAP_HEADER, pages.overlap_rows(found, 1))
    show_table(pages.NODE_HEADER, pages.node_rows(found))
    show_table(pages.REMOTE_HEADER, pages.remote_rows(found))
    show_table(pages.APPLICATIONS_HEADER, pages.application_rows(runs))
    show_table(pages.METADATA_HEADER, pages.metadata_rows(told))
    show_table(pages.WITHOUT_CORE_HEADER, pages.without_core_rows(found))
    wrong = [str(one.place()) for one in lanes if not one.valid] + [
        one.problem for one in runs if not one.valid
    ]
    if wrong:
        raise CommandError(f"wrong results: {wrong[0]}", 1)


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    for kind in (workers.LANES, workers.METADATA):
        if schema_of(path) == kind.schema:
            _show(kind.read(path))
            return True
    return False


def _done(job: Job, out: Path | None) -> Sequence[Any]:
    """Nothing: it failed, and the rest goes on."""
    try:
        records = job.run()
    except CommandError as problem:
        console.print(f"[red]{problem}[/]")
        return []
    if out:
        job.kind.append(beside(out, job.ending), records)
    return records


def run(chosen: Sequence[mpis.Mpi], wanted: Wanted, out: Path | None) -> None:
    jobs = [(mpi, job) for mpi in chosen for job in workers_plan.jobs(mpi, wanted)]
    if not jobs and "spare" in wanted.parts:
        raise CommandError("ranks and workers with a core each take 4 cores or more")
    records: list[Any] = []
    failed = 0
    for number, (mpi, job) in enumerate(jobs, 1):
        console.print(f"[dim]{number} of {len(jobs)}: {mpi.name}, {job.words}[/]")
        fresh = _done(job, out)
        records += fresh
        failed += not fresh
    _show(records)
    if failed:
        raise CommandError(f"{failed} jobs failed", 1)
