"""The formulas of overlap, as functions of times."""

from __future__ import annotations

import pytest
from hocket.bench import overlap
from hypothesis import given
from hypothesis import strategies as st

times = st.floats(min_value=0.01, max_value=1e6)
shares = st.floats(min_value=-3, max_value=1)


@given(times, times, shares)
def test_imb_finds_the_hidden_share(pure: float, cpu: float, hidden: float) -> None:
    overall = pure + cpu - hidden * min(pure, cpu)
    assert overlap.imb(pure, cpu, overall) == pytest.approx(
        100 * hidden, abs=1e-3 * (1 + overall / min(pure, cpu))
    )


@given(times, times, shares)
def test_osu_finds_the_hidden_share(pure: float, cpu: float, hidden: float) -> None:
    overall = pure + cpu - hidden * pure
    assert overlap.osu(overall, cpu, 0, pure) == pytest.approx(100 * hidden, abs=1e-3 * (1 + overall / pure))


@given(times, times, times)
def test_both_agree_where_the_computation_is_as_long_as_the_operation(
    pure: float, overall: float, test: float
) -> None:
    by_imb = overlap.imb(pure, pure, overall)
    assert overlap.osu(overall, pure + test, test, pure) == pytest.approx(
        by_imb, abs=1e-6 * (1 + (overall + test) / pure)
    )


@given(times, times)
def test_everything_hidden_is_100_and_nothing_0(pure: float, cpu: float) -> None:
    assert overlap.imb(pure, cpu, max(pure, cpu)) == pytest.approx(100)
    assert overlap.imb(pure, cpu, pure + cpu) == pytest.approx(
        0, abs=1e-3 * (1 + max(pure, cpu) / min(pure, cpu))
    )
    assert overlap.osu(pure + cpu, cpu, 0, pure) == pytest.approx(0, abs=1e-3 * (1 + cpu / pure))


def test_nothing_is_cut_off() -> None:
    assert overlap.imb(10, 10, 30) == -100
    assert overlap.imb(10, 10, 5) == 150
    assert overlap.osu(30, 10, 0, 10) == -100
    assert overlap.osu(15, 20, 0, 10) == 150


@given(times, times, times)
def test_longer_together_is_less_overlap(pure: float, cpu: float, overall: float) -> None:
    assert overlap.imb(pure, cpu, overall * 1.5) < overlap.imb(pure, cpu, overall)
    assert overlap.osu(overall * 1.5, cpu, 0, pure) < overlap.osu(overall, cpu, 0, pure)


@given(times, st.floats(min_value=0.1, max_value=10))
def test_units_do_not_matter(pure: float, unit: float) -> None:
    assert overlap.imb(2 * unit, 3 * unit, 4 * unit) == pytest.approx(overlap.imb(2, 3, 4))
    assert overlap.osu(4 * unit, 3 * unit, unit, 2 * unit) == pytest.approx(overlap.osu(4, 3, 1, 2))


def test_what_is_stolen_and_what_is_over() -> None:
    assert overlap.stolen(150, 100) == pytest.approx(50)
    assert overlap.stolen(90, 100) == pytest.approx(-10)
    assert overlap.overhead(11.5, 10) == pytest.approx(15)
