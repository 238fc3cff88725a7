"""The report of a claim: a table for people, and a JSON file that says how it was made.

Stage: around the loop. In: seeds' numbers; out: means with t intervals over seeds, text, a file.
"""

from __future__ import annotations

import datetime
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.bootstrap import SetupError
from workbench.learning.provenance import versions
from workbench.policies import open_policy
from workbench.records import SCHEMA
from workbench.reproduce.claims import Order
from workbench.runlog import write_json
from workbench.stats import Interval, mean_interval


def over_seeds(rows: Sequence[Mapping[str, Any]], *path: str) -> Interval:
    """Mean with Student's interval over seeds of the number each row holds at `path`.

    >>> over_seeds([{"rl": {"rate": 0.5}}, {"rl": {"rate": 0.75}}], "rl", "rate").estimate
    0.625
    """
    numbers = []
    for row in rows:
        for name in path:
            row = row[name]
        numbers.append(row)
    return mean_interval(numbers)


def percent(interval: Interval) -> str:
    """A share in percent with its interval, cut at 0 and 100; a single seed gives no interval.

    >>> percent(mean_interval([0.99, 1.0, 0.98]))
    '99.0 % [96.5, 100.0]'
    """
    if np.isnan(interval.low):
        return f"{100 * interval.estimate:.1f} %"
    return replace(interval, low=max(interval.low, 0.0), high=min(interval.high, 1.0)).percent()


def number(interval: Interval, lowest: float = -np.inf, highest: float = np.inf) -> str:
    """A number that lies between two others, with its interval, to two places; a single seed gives
    no interval.

    >>> number(mean_interval([0.5, 0.75, 1.0]), highest=1.0)
    '0.75 [0.13, 1.00]'
    """
    if np.isnan(interval.low):
        return f"{interval.estimate:.2f}"
    low, high = max(interval.low, lowest), min(interval.high, highest)
    return f"{interval.estimate:.2f} [{low:.2f}, {high:.2f}]"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as text, columns aligned; the first row is the header."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
    return "\n".join((lines[0], "-" * max(map(len, lines)), *lines[1:]))


def base_hash(order: Order) -> str:
    """The version of the order's base policy. Raises SetupError if there is no such policy."""
    try:
        return open_policy(order.policy).version
    except ValueError as error:
        raise SetupError(str(error)) from error


def about(order: Order, policy_hash: str) -> dict[str, Any]:
    """How the figures were made: the head of every JSON file."""
    command = f"python3 -m workbench reproduce {order.name} --seeds {len(order.seeds)}"
    command += " --fast" if order.fast else ""
    command += "" if order.policy == "tiny" else f" --policy {order.policy}"
    return {
        "schema": SCHEMA,
        "name": order.name,
        "command": command,
        "date": datetime.date.today().isoformat(),
        "machine": {
            "platform": platform.platform(),
            "cpu": _cpu_name(),
            "num_cpus": os.cpu_count(),
            "load_average": os.getloadavg()[0],
            "torch_threads": 1,
        },
        "versions": versions(),
        "policy_hash": policy_hash,
        "fast": order.fast,
        "seeds": list(order.seeds),
    }


def publish(order: Order, head: Mapping[str, Any], found: Mapping[str, Any], text: str) -> Path:
    """Write NAME.json, print the table and where the file is; returns the file's path."""
    path = order.folder / f"{order.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    minutes = (time.monotonic() - order.started) / 60  # seeds finished before take none
    write_json(path, {**head, "minutes": minutes, **_plain(found)})
    if order.fast:
        text += "\n(--fast: tiny sizes, the numbers mean nothing)"
    print(f"\n{text}\n\nbase policy {head['policy_hash']}; written to {path}")
    return path


def _plain(value: Any) -> Any:
    """Intervals as objects of plain JSON, at any depth."""
    if isinstance(value, Interval):
        return dict(vars(value))
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def _cpu_name() -> str:
    """The processor's name on Linux, else what the platform knows."""
    info = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (info.read_text("utf-8", "replace").splitlines() if info.exists() else ())
        if line.startswith("model name")
    ]
    return names[0] if names else platform.processor() or platform.machine()
