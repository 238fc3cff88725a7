"""From the move of a slider to the new picture, for 1,000 stored rollouts, without a browser.

    python benchmarks/mixer.py [--rounds 40] [--rollouts 1000]

The run is "bugfix-before-after", two designs of three and two components. Methods take turns, so
that a busy machine slows all of them; read the ratios, which are of CPU time. Milliseconds: median
and 90th percentile of the time, and the median of the CPU time:

    slider          RewardMixer: re-scored, compared, redrawn (HTML), list and viewer included
    numbers         the part of it that is arithmetic: Scores.under and compare_designs
    called again    the same numbers with every component called again (Scores.of), as without a
                    matrix of what they returned
    one at a time   the same rewards by RewardDesign.score, a rollout at a time, both designs
    matplotlib      only the picture, as plots.reward_mixer draws it, to PNG: why the widget shows
                    HTML
"""

from __future__ import annotations

import argparse
import io
import time

import numpy as np

from workbench import load_run, plots
from workbench.rewards import (
    RewardDesign,
    Scores,
    all_pass,
    compare_designs,
    pass_fraction,
    tampered,
    turn_penalty,
)
from workbench.widgets import RewardMixer

NAIVE = RewardDesign(
    tests=(pass_fraction("visible_as_left"), 1.0),
    turns=(turn_penalty(2, 8), 0.5),
    tampering=(tampered, 0.0),
)
HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))


def methods(groups, tasks):
    """Name -> function of a weight that does the work once."""
    mixer = RewardMixer(groups, NAIVE, against=HONEST, tasks=tasks)
    slider = mixer.mine._rows["tampering"].slider
    a, b = (Scores.of(groups, tasks, design) for design in (NAIVE, HONEST))
    truth = a.truth()

    def move(weight):
        slider.value = weight

    def numbers(weight):
        compare_designs(a.with_weights(tampering=weight), b, truth)

    def again(weight):
        moved = NAIVE.with_weights(tampering=weight)
        both = (Scores.of(groups, tasks, design) for design in (moved, HONEST))
        compare_designs(*both, truth)

    def one_at_a_time(weight):
        for design in (NAIVE.with_weights(tampering=weight), HONEST):
            design.score_groups(groups, tasks)

    def matplotlib(weight):
        comparison = compare_designs(a, b, truth)
        plots.reward_mixer(a, b, comparison, 0).savefig(io.BytesIO(), format="png")

    return {
        "slider": move,
        "numbers": numbers,
        "called again": again,
        "one at a time": one_at_a_time,
        "matplotlib": matplotlib,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--rollouts", type=int, default=1000)
    options = parser.parse_args()
    run = load_run("bugfix-before-after")
    groups, num_rollouts = [], 0
    for group in run.groups:
        if num_rollouts < options.rollouts:
            groups.append(group)
            num_rollouts += len(group.trajectories)
    todo = methods(groups, run.tasks)
    taken, cpu = {name: [] for name in todo}, {name: [] for name in todo}
    for round_index in range(options.rounds + 2):
        weight = -0.05 * (1 + round_index % 20)
        for name, work in todo.items():
            start, cpu_start = time.perf_counter(), time.process_time()
            work(weight)
            if round_index >= 2:  # the first ones import and warm up
                taken[name].append(1000 * (time.perf_counter() - start))
                cpu[name].append(1000 * (time.process_time() - cpu_start))
    print(f"{num_rollouts} rollouts in {len(groups)} groups, {options.rounds} rounds")
    print(f"{'':16}{'median ms':>12}{'p90 ms':>12}{'CPU ms':>12}{'x slider':>12}{'x numbers':>12}")
    middle = {name: float(np.median(times)) for name, times in cpu.items()}
    for name, times in taken.items():
        ratios = (middle[name] / middle["slider"], middle[name] / middle["numbers"])
        print(
            f"{name:16}{np.median(times):12.1f}{np.percentile(times, 90):12.1f}"
            f"{middle[name]:12.1f}{ratios[0]:12.2f}{ratios[1]:12.2f}"
        )


if __name__ == "__main__":
    main()
