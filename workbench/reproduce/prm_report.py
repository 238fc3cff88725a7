"""Tables and figures of the claim about how far a process reward model can be trusted.

Stage: around the loop. In: one row of numbers a seed; out: means with t intervals over seeds, text,
two figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from workbench import plots
from workbench.reproduce.report import number, over_seeds, percent, table
from workbench.stats import Interval

NUMBERS = {
    "auroc_dead": "AUROC dead",
    "auroc_lost": "AUROC lost",
    "precision_lost": "AP lost",
    "share_lost": "(base)",
    "ece": "ECE",
    "brier": "Brier",
    "rank_correlation": "Spearman",
    "accuracy_on_failed": "1st error",
    "accuracy_on_sound": "sound",
    "f1": "F1",
}
"""Field of `Reliability` -> its column in the table."""


def powers(most: int) -> list[int]:
    """1, 2, 4, ... up to `most`."""
    return [2**i for i in range(most.bit_length()) if 2**i <= most]


def means(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Intervals over seeds of every number."""

    def all_of(*path: str) -> dict[str, Any]:
        inner = rows[0]
        for name in path:
            inner = inner[name]
        return {name: known_over_seeds(rows, *path, name) for name in inner}

    choosing = {
        name: [
            known_over_seeds([{"share": row["choosing"][name][i]} for row in rows], "share")
            for i in range(len(curve))
        ]
        for name, curve in rows[0]["choosing"].items()
    }
    return {
        "models": {
            name: {
                at: {n: known_over_seeds(rows, "models", name, at, n) for n in NUMBERS}
                for at in ("own", "other")
            }
            for name in rows[0]["models"]
        },
        "noise": all_of("noise"),
        "halving": all_of("halving"),
        "probes": {name: all_of("probes", name) for name in rows[0]["probes"]},
        "choosing": choosing,
    }


def known_over_seeds(rows: Sequence[Mapping[str, Any]], *path: str) -> Interval:
    """`over_seeds` of those seeds that have the number: a rate of nothing is none."""
    known = []
    for row in rows:
        number = row
        for name in path:
            number = number[name]
        if number is not None and np.isfinite(number):
            known.append({"number": number})
    if not known:
        return Interval(np.nan, np.nan, np.nan, "no seed has it")
    return over_seeds(known, "number")


def told(found: Mapping[str, Any]) -> str:
    """The tables: means over seeds with 95 % t intervals."""
    noise, halving = found["noise"], found["halving"]
    return "\n\n".join(
        (
            "attempts of the policy the models were fitted to",
            _reliability_table(found["models"], "own"),
            "attempts of the base policy",
            _reliability_table(found["models"], "other"),
            f"Monte-Carlo labels (8 re-rolls) against exact values: error {number(noise['rmse'])}, "
            f"by the formula {number(noise['rmse_by_formula'])}; bias {number(noise['bias'])}; "
            f"hard labels that miss a chance {number(noise['missed'])}, by the formula "
            f"{number(noise['missed_by_formula'])}",
            f"first errors by halving: {number(halving['asked'])} beginnings asked about, not "
            f"{number(halving['turns'])}; right for {number(halving['agrees'])} of the attempts",
            _choosing_table(found["choosing"]),
            _probe_table(found["probes"]),
        )
    )


def draw(rows: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """The reliability diagram (turns of all seeds together) and the best-of-N curve."""
    tables = {name: pooled([row["models"][name]["own"]["bins"] for row in rows])
              for name in rows[0]["models"]}  # fmt: skip
    names = rows[0]["choosing"]
    curves = {name: [interval.estimate for interval in means(rows)["choosing"][name]]
              for name in ("truth", "visible tests, then last", "visible tests", "last", "min",
                           "mean", "product", "sum") if name in names}  # fmt: skip
    sizes = powers(2 ** (len(next(iter(curves.values()))) - 1))
    return [
        plots.save_png(plots.reliability_diagram(tables), folder / "prm-reliability.png"),
        plots.save_png(plots.choosing_curve(curves, sizes), folder / "prm-best-of-n.png"),
    ]


def pooled(tables: Sequence[Sequence[Mapping[str, Any]]]) -> list[SimpleNamespace]:
    """One reliability table of several: turns added up, means weighted by turns."""
    merged = []
    for bins in zip(*tables):
        count = sum(b["num_turns"] for b in bins)
        known = [b for b in bins if b["num_turns"]]
        predicted, observed = (
            sum(b["num_turns"] * b[what] for b in known) / count if count else float("nan")
            for what in ("predicted", "observed")
        )
        merged.append(SimpleNamespace(num_turns=count, predicted=predicted, observed=observed))
    return merged


def _reliability_table(models: Mapping[str, Any], at: str) -> str:
    lines = [["fitted to", *models]]
    for name, title in NUMBERS.items():
        lowest = -1.0 if name == "rank_correlation" else 0.0
        numbers = (number(places[at][name], lowest, 1.0) for places in models.values())
        lines.append([title, *numbers])
    return table(lines)


def _choosing_table(choosing: Mapping[str, Sequence[Interval]]) -> str:
    sizes = powers(2 ** (len(next(iter(choosing.values()))) - 1))
    lines = [["chosen by", *(f"N = {n}" for n in sizes)]]
    lines += [[name, *(percent(i) for i in curve)] for name, curve in choosing.items()]
    return table(lines)


def _probe_table(probes: Mapping[str, Mapping[str, Interval]]) -> str:
    ways = list(next(iter(probes.values())))
    lines = [["gained by padding", *ways]]
    for name, gains in probes.items():
        lines.append([name, *(number(gains[how]) for how in ways)])
    return table(lines)
