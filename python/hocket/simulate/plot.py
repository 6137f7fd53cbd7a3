"""Predictions as a figure: time against ranks, a line for each algorithm."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from hocket.errors import CommandError
from hocket.simulate.scale import Prediction

_styles = ("o-", "s--", "^-.", "D:")


def plot(found: Sequence[Prediction], title: str, path: Path) -> None:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as problem:
        raise CommandError("plots need matplotlib: pip install 'hocket[bench]'", 1) from problem
    lines: dict[str, list[Prediction]] = defaultdict(list)
    for each in found:
        if not each.refusal:
            lines[each.algorithm].append(each)
    if not lines:
        raise CommandError("nothing to plot: every algorithm was refused", 1)
    figure, axis = pyplot.subplots(figsize=(7.5, 4.5), layout="constrained")
    for number, (algorithm, some) in enumerate(lines.items()):
        style = _styles[number // 10 % len(_styles)]
        axis.plot(
            [each.ranks for each in some], [each.total / 1e6 for each in some], style, label=algorithm,
            markersize=4, linewidth=1.2,
        )  # fmt: skip
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("ranks")
    axis.set_ylabel("predicted milliseconds until the last rank ends")
    figure.suptitle("\n".join(textwrap.wrap(title, 90)), fontsize=10)
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as problem:
        raise CommandError(f"the picture cannot be written: {problem}", 1) from problem
    finally:
        pyplot.close(figure)
