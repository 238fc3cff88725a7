"""Lines of several seeds: moving averages, their mean over seeds and its band.

Stage: reading. (seeds, iterations) shares in; what is drawn on given axes out. Iterations count
from 1, as the texts of a run do, and an average stands at the middle of those it is of.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.stats import mean_interval


def moving_average(values: Sequence[float] | np.ndarray, width: int) -> np.ndarray:
    """(N - W + 1,) means of W = min(width, N) neighbours among (N,) values.

    >>> moving_average([0.0, 3.0, 6.0, 6.0], 3).tolist()
    [3.0, 5.0]
    """
    width = min(width, len(values))
    return np.convolve(values, np.ones(width) / width, "valid")


def draw_seeds(
    axes, seeds: Sequence[Sequence[float]], width: int, *, colour: str, line: str, label: str
) -> float:
    """Draw the mean over seeds of moving averages over `width` iterations; its highest point.

    Args:
        seeds: (seeds, iterations) shares. Of several seeds Student's interval is drawn as a band,
            cut to [0, 1], and counts for the highest point.
    """
    smooth = np.array([moving_average(values, width) for values in seeds])
    means = [mean_interval(column) for column in smooth.T]
    middle, low, high = ([getattr(m, e) for m in means] for e in ("estimate", "low", "high"))
    xs = moving_average(1 + np.arange(len(seeds[0])), width)
    dot = "o" if len(xs) == 1 else None  # a line of one point would not be seen
    axes.plot(xs, middle, line, marker=dot, color=colour, lw=2, label=label)
    if len(seeds) > 1:
        axes.fill_between(
            xs, np.clip(low, 0, 1), np.clip(high, 0, 1), color=colour, alpha=0.15, lw=0
        )
    return float(np.nanmax([*middle, *high]))
