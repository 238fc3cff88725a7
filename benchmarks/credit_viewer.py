"""How long CreditViewer takes to draw 200 turns under 8 schemes, without a browser.

    python benchmarks/credit_viewer.py [--rounds 20] [--turns 200] [--schemes 8]

Methods take turns, so that a busy machine slows all of them; read the ratios, which are of CPU
time. Milliseconds: median and 90th percentile of the time, and the median of the CPU time:

    attempt         another attempt is chosen: its table and the tokens of its first turn
    compared        another attempt is chosen, and then a second one put beneath it: thrice the rows
    turn            another turn is chosen: its tokens and the mark on its row
    made            the widget from a group and what the schemes said, truth and agreement included
    page            the whole group as one file
    matplotlib      only the still table, cut at 40 turns, to PNG: why the widget shows HTML

What the browser adds is printed by tests/browser/test_credit_viewer.py (-s).
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench import load_run
from workbench.widgets import CreditViewer


def long_group(num_turns: int):
    """Two attempts of that many turns, made of the turns of the recorded run's first group."""
    group = load_run("credit-groups").groups[0]
    attempts = sorted(group.trajectories, key=lambda t: -len(t.turns))[:2]
    turns = [(attempt.turns * num_turns)[:num_turns] for attempt in attempts]
    long = tuple(replace(attempt, turns=some) for attempt, some in zip(attempts, turns))
    return replace(group, trajectories=long, turn_values=(), subset_values=())


def methods(num_turns: int, num_schemes: int, folder: Path):
    """Name -> function of a round's number that does the work once."""
    group, rng = long_group(num_turns), np.random.default_rng(0)

    def numbers():
        return [rng.normal(size=num_turns) for _ in group.trajectories]

    credit = {f"scheme {s}": numbers() for s in range(num_schemes)}
    truth = numbers()
    one, pair = (CreditViewer(group, credit, truth=truth) for _ in range(2))
    pair.against = 1

    def attempt(i):
        one.attempt = (i + 1) % 2

    def compared(i):
        pair.set_trait("attempt", i % 2)
        pair.against = 1 - i % 2

    def turn(i):
        one.turn = 1 + i % (num_turns - 1)

    def made(i):
        CreditViewer(group, credit, truth=truth).close()

    def page(i):
        one.to_html(folder / "page.html")

    def matplotlib(i):
        one.figure().savefig(io.BytesIO(), format="png")

    return dict(attempt=attempt, compared=compared, turn=turn, made=made, page=page,
                matplotlib=matplotlib)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--schemes", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        todo = methods(options.turns, options.schemes, Path(folder))
        taken, cpu = {name: [] for name in todo}, {name: [] for name in todo}
        for round_index in range(options.rounds + 2):
            for name, work in todo.items():
                start, cpu_start = time.perf_counter(), time.process_time()
                work(round_index)
                if round_index >= 2:  # the first ones import and warm up
                    taken[name].append(1000 * (time.perf_counter() - start))
                    cpu[name].append(1000 * (time.process_time() - cpu_start))
    size = f"{options.turns} turns, {options.schemes} schemes and the truth"
    print(f"{size}, {options.rounds} rounds")
    print(f"{'':16}{'median ms':>12}{'p90 ms':>12}{'CPU ms':>12}{'x attempt':>12}")
    middle = {name: float(np.median(times)) for name, times in cpu.items()}
    for name, times in taken.items():
        print(
            f"{name:16}{np.median(times):12.1f}{np.percentile(times, 90):12.1f}"
            f"{middle[name]:12.1f}{middle[name] / middle['attempt']:12.2f}"
        )


if __name__ == "__main__":
    main()
