"""How long ranks of a lab that wait for a message nap (src/lab/yield.c): those with work need a core."""

from __future__ import annotations

import os

VARIABLE = "LAB_NAP_US"

_least_us = 50  # 8 ranks on a core are well with it
_look_us = 12.5  # of a core, for each look of a rank at what has come
_slack_us = 50  # by which the kernel lets a nap last longer


def nap_us(ranks: int, cores: int | None = None) -> int:
    """Of each of `ranks` on `cores` (default: those that this process may use), in microseconds.

    Ranks that look at their messages as often as one alone take all of a core that many of them share, and
    the one that has something to do waits for all others.
    """
    on_a_core = ranks / (cores or len(os.sched_getaffinity(0)))
    return max(_least_us, round(on_a_core * _look_us) - _slack_us)
