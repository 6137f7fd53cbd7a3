"""The applications: what `apps/<name>` stands for, how they are measured, and what the page says of it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from built_programs import mpis_with
from hocket import applications, mpis
from hocket.bench import applications as measuring
from hocket.bench import applications_page as pages
from hocket.bench.applications import Experiment, Request, Timed
from hocket.bench.nonblocking import Settings
from hocket.errors import CommandError

Hocket = Callable[..., subprocess.CompletedProcess[str]]
MPICH = mpis.Mpi("mpich", "mpich", Path("mpiexec"))
FFT = Experiment("fft3d", "--nx 6 --ny 5 --nz 4", ("--decomposition slab,pencil", "--tile 2"))


def _built(family: str) -> Path:
    return applications.built_for(mpis.Mpi(family, family, Path("mpiexec")), "fft3d")


INSTALLED = mpis_with(_built)
needs_programs = pytest.mark.skipif(not INSTALLED, reason="no MPI with built applications")


def _timed(**changes: Any) -> Timed:
    common: dict[str, Any] = {
        **{"date": "2026-01-02T03:04:05+00:00", "cpu": "a cpu", "cores": 2, "load": 0.1},
        **{"mpi": "openmpi", "mpi_version": "5.0", "ranks": 2, "application": "fft3d", "problem": "--nx 64"},
        **{"form": "blocking", "variant": "slab", "side": "untouched", "runs": 3, "valid": True},
        **{"median_s": 2.0, "p10_s": 1.9, "p90_s": 2.1, "communication_share": 0.25},
    }
    return Timed(**{**common, **changes})


def test_a_name_below_apps_is_the_program_of_that_mpi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "lib" / "hocket" / "apps" / "compress_mpich"
    program.parent.mkdir(parents=True)
    program.touch()
    monkeypatch.setenv("HOCKET_PREFIX", str(tmp_path))
    assert applications.resolve(MPICH, "apps/compress") == str(program)
    assert applications.resolve(MPICH, "apps/compress/") == str(program)
    assert applications.resolve(MPICH, "./compress") == "./compress"
    with pytest.raises(CommandError, match="no application named 'zip'"):
        applications.resolve(MPICH, "apps/zip")
    with pytest.raises(CommandError, match="'apps/fft3d' is not built"):
        applications.resolve(MPICH, "apps/fft3d")
    with pytest.raises(CommandError, match="Debian's"):
        applications.resolve(dataclasses.replace(MPICH, name="debian-mpich"), "apps/compress")


def test_a_program_of_that_path_is_run_itself(
    executable: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable("apps/fft3d", "true")
    monkeypatch.chdir(tmp_path)
    assert applications.resolve(MPICH, "apps/fft3d") == "apps/fft3d"


def test_runs_are_summed_up_by_side_form_and_variant() -> None:
    def result(form: str, seconds: float, right: bool = True) -> dict[str, Any]:
        run = {"form": form, "decomposition": "slab", "tile": 0, "seconds": seconds, "right": right}
        return {**run, "communication_share": seconds / 10}

    results = [("untouched", result("blocking", n)) for n in (3.0, 1.0, 2.0)]
    results += [("hocket", result("blocking", 4.0)), ("hocket", result("nonblocking", 1.0, right=False))]
    first, second, third = measuring.summaries(results)
    assert (first["side"], first["form"], first["variant"], first["runs"]) == (
        "untouched",
        "blocking",
        "slab",
        3,
    )
    assert (first["p10_s"], first["median_s"], first["p90_s"]) == pytest.approx((1.2, 2.0, 2.8))
    assert first["communication_share"] == pytest.approx(0.2)
    assert (second["side"], second["median_s"], second["p10_s"]) == ("hocket", 4.0, 4.0)
    assert first["valid"] and second["valid"] and not third["valid"]


def test_settings_reach_the_side_of_hocket_only() -> None:
    request = Request([], 2, settings=Settings("thread", 3), variables=("A=b=c",))
    assert request.environment("untouched") == {"A": "b=c"}
    assert request.environment("hocket") == {"A": "b=c", "HOCKET_PROGRESS": "thread", "HOCKET_NODE_SIZE": "3"}


def test_records_survive_a_file_and_wrong_ones_are_named(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    measuring.RUNS.append(file, [_timed(), _timed(side="hocket", node_size=2)])
    assert measuring.RUNS.read(file) == [_timed(), _timed(side="hocket", node_size=2)]
    file.write_text(json.dumps({**dataclasses.asdict(_timed()), "application": "hpl"}) + "\n")
    with pytest.raises(CommandError, match=r"line 1: no such run: hpl"):
        measuring.RUNS.read(file)


def test_a_speed_up_is_against_the_best_form_of_the_mpi_alone() -> None:
    runs = [
        *(_timed(median_s=2.0), _timed(form="nonblocking", median_s=3.0)),
        *(_timed(side="hocket", median_s=1.6), _timed(side="hocket", form="nonblocking", median_s=1.0)),
    ]
    (group,) = pages.groups(runs)
    row = pages.summary_row(group)
    assert row[4:] == ["blocking, slab", "2,000 (1,900-2,100)", *row[6:]]
    assert row[7] == "2.00x" and row[9] == "1.25x"


def test_wrong_answers_win_nothing() -> None:
    runs = [_timed(), _timed(side="hocket", form="nonblocking", median_s=0.1, valid=False)]
    (group,) = pages.groups(runs)
    assert pages.summary_row(group)[6:8] == ["-", "-"]
    assert "wrong answer" in pages.page(runs)


def test_each_setting_of_hocket_is_compared_with_the_same_runs_alone() -> None:
    runs = [
        _timed(),
        _timed(side="hocket", median_s=1.0),
        _timed(side="hocket", median_s=4.0, progress="thread"),
    ]
    found = [(group.place()[1], pages.summary_row(group)[9]) for group in pages.groups(runs)]
    assert found == [("nx 64", "2.00x"), ("nx 64; progress thread", "0.50x")]
    assert len(pages.groups([*runs, _timed(variables="A=b")])) == 3


def test_an_application_has_to_win_in_one_configuration() -> None:
    slow = [_timed(), _timed(side="hocket", form="nonblocking", median_s=1.9)]
    fast = [_timed(link="2gbit"), _timed(link="2gbit", side="hocket", form="nonblocking", median_s=1.0)]
    assert "| fft3d | nx 64, openmpi, 2 ranks | **1.05x, missed** |" in pages.page(slow)
    page = pages.page([*slow, *fast])
    assert "| fft3d | nx 64; 2gbit, openmpi, 2 ranks | 2.00x |" in page
    assert "missed" not in page


def test_a_gain_stands_beside_that_of_the_blocking_form_and_of_ranks_with_a_core_each() -> None:
    crowded = [
        _timed(ranks=4),
        _timed(ranks=4, side="hocket", median_s=1.6),
        _timed(ranks=4, side="hocket", form="nonblocking", median_s=1.0),
    ]
    alone = [_timed(), _timed(side="hocket", form="nonblocking", median_s=1.9)]
    (row,) = pages.target_rows(pages.groups([*crowded, *alone]))
    assert row[1:] == ["nx 64, openmpi, 4 ranks", "2.00x", "1.25x", "nx 64, openmpi, 2 ranks", "1.05x"]


def test_the_last_measurement_counts() -> None:
    (group,) = pages.groups([_timed(median_s=9.0), _timed(median_s=2.0)])
    assert [one.median_s for one in group.runs] == [2.0]


def test_a_page_without_records_still_says_what_there_is() -> None:
    text = pages.page([])
    assert all(f"`{name}`" in text for name in applications.NAMES)
    assert "Nothing has been measured yet." in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nonsense",), "no application named 'nonsense'"),
        (("--env", "novalue"), "--env wants NAME=VALUE"),
        (("--progress", "never"), "never"),
    ],
)
def test_wrong_words_are_refused(hocket: Hocket, words: tuple[str, ...], said: str) -> None:
    done = hocket("bench", "--applications", *words)
    assert done.returncode == 2
    assert said in done.stderr


@needs_programs
def test_both_sides_are_measured_in_all_forms() -> None:
    twice = dataclasses.replace(FFT, repeat=2)
    found = measuring.run(INSTALLED[0], Request([twice], 2, rounds=1), twice)
    variants = {"slab", "pencil", "slab, tile 2"}
    assert {(one.side, one.form, one.variant) for one in found} == {
        (side, form, variant + (", window 2" if form == "nonblocking" else ""))
        for side in measuring.SIDES
        for form in measuring.FORMS
        for variant in variants
    }
    for one in found:
        assert one.valid and one.runs == 2
        assert 0 < one.p10_s <= one.median_s <= one.p90_s
        assert 0 <= one.communication_share <= 1


@needs_programs
def test_an_application_runs_by_its_name(hocket: Hocket) -> None:
    done = hocket("run", "-n", "2", "--mpi", INSTALLED[0].name, "apps/fft3d", "--nx", "6", "--nonblocking")
    assert done.returncode == 0, done.stderr
    assert "fft3d nonblocking slab" in done.stdout
    assert "collective calls ran in Hocket" in done.stdout


@needs_programs
def test_a_wrong_argument_keeps_its_status(hocket: Hocket) -> None:
    done = hocket("run", "-n", "2", "--mpi", INSTALLED[0].name, "apps/fft3d", "--nx", "none")
    assert done.returncode == 2
    assert "--nx must be a number" in done.stderr
