"""hocket bench --render: the pages, from the records in bench/results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket.bench import (
    applications,
    applications_page,
    costs,
    markdown,
    net_page,
    nonblocking,
    nonblocking_page,
    registration,
    timeline,
    topology,
    topology_page,
    topology_setup,
    workers,
    workers_page,
)
from hocket.bench import records as blocking
from hocket.commands import bench_net
from hocket.console import console
from hocket.errors import CommandError


def _write(page: Path, text: str) -> None:
    try:
        page.write_text(text)
    except OSError as problem:
        raise CommandError(f"cannot write '{page}': {problem.strerror}") from problem
    console.print(f"wrote {page}")


def _files(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("*.jsonl"))


def _of_network(files: Sequence[Path], folder: Path) -> list[str]:
    """Sections, and their pictures in the page's folder."""
    in_network, registered = bench_net.read(files), registration.OPERATIONS.read_all(files)
    drawn = net_page.draw(in_network, folder)
    if registered:
        drawn.append(folder / registration.PICTURE)
        registration.draw(registered, drawn[-1])
    for picture in drawn:
        console.print(f"wrote {picture}")
    return [*net_page.section(in_network, folder), *registration.section(registered, folder)]


def render(results: Path, page: Path) -> None:
    """The other pages are written beside `page`, where there are records for them."""
    if not results.is_dir():
        return _write(page, markdown.page(blocking.CELLS.read(results)))
    cells = [cell for path in _files(results) for cell in blocking.CELLS.read(path)]
    around = [cost for path in _files(results / "costs") for cost in costs.COSTS.read(path)]
    _write(page, markdown.page(cells, around, _of_network(_files(results / "net"), page.parent)))

    for path in _files(results / "many-cores"):
        _write(page.with_name(f"{page.stem}-{path.stem}.md"), markdown.page(blocking.CELLS.read(path)))

    lanes = nonblocking.LANES.read_all(_files(results / "nonblocking"))
    waits = timeline.WAITS.read_all(_files(results / "nonblocking"))
    if lanes or waits:
        _write(page.with_name("nonblocking.md"), nonblocking_page.page(lanes, waits, page.parent))

    runs = applications.RUNS.read_all(_files(results / "applications"))
    _write(page.with_name("applications.md"), applications_page.page(runs))

    in_lab = topology.RUNS.read_all(_files(results / "topology"))
    setups = topology_setup.SETUPS.read_all(_files(results / "topology"))
    for picture in topology_page.draw(in_lab, page.parent):
        console.print(f"wrote {picture}")
    _write(page.with_name("topology.md"), topology_page.page(in_lab, page.parent, setups))

    by_workers = _files(results / "workers")
    if by_workers:
        _write(
            page.with_name("overlap.md"),
            workers_page.page(
                workers.LANES.read_all(by_workers),
                applications.RUNS.read_all(by_workers),
                workers.METADATA.read_all(by_workers),
            ),
        )
    return None
