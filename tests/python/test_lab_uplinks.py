"""What a schedule sends over an uplink is what the lab's links count there."""

from __future__ import annotations

import pytest

pytest.importorskip("hocket._core")

from hocket import mpis
from hocket.bench import topology, topology_uplinks
from hocket.bench.topology_experiments import Case, Experiment, Situation
from lab_needs import why_no_lab

_reason = why_no_lab()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(_reason), reason=_reason)]

_TOLERANCE = 0.02  # what is lost on the way is sent again

_CASES = (
    Case("gather", (256 << 10,), ("linear by leaves",)),
    Case("allreduce", (1 << 20,), ("ring",)),
)


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.collective)
def test_links_count_the_bytes_of_the_schedule(case: Case) -> None:
    mpi = next((mpi for mpi in mpis.discover() if mpi.name == "openmpi"), None)
    if mpi is None:
        pytest.skip("no Open MPI here")
    small = Situation(leaves=2, nodes=2, rate=10**9, uplink=5 * 10**8, placement="cyclic")
    experiment = Experiment("small", "", "", (small,), (case,), counts_bytes=True)
    job = topology.Job(experiment, small, case, "", case.recipes[0])
    topology.check_that_it_runs(mpi, job)
    (counted,) = topology_uplinks.count(mpi, job)
    assert counted.valid
    assert counted.uplink_bytes == pytest.approx(topology_uplinks.said(counted), rel=_TOLERANCE)
