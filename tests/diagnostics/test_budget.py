"""`benchmarks/budget.py`: predicted beside measured, in its smallest size."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "budget.py"


def test_it_prints_predicted_beside_measured(capsys):
    spec = importlib.util.spec_from_file_location("budget", SCRIPT)
    budget = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(budget)
    budget.main(["--smallest"])
    blocks = capsys.readouterr().out.strip().split("\n\n")
    titles = [block.splitlines()[0] for block in blocks]
    assert titles == [
        f"{recipe}, seed 0: {name}"
        for recipe in ("rl", "rft_then_rl")
        for name in ("before", "beginning")
    ]
    # by hand: 2 iterations of 2 x 2 attempts, fine-tuning on 2 x 2 more; the rest is 1 iteration
    for block, rollouts in zip(blocks, (8, 4, 12, 4)):
        rows = {line.split()[0]: line.split()[1:] for line in block.splitlines()[2:]}
        assert rows["rollouts"] == [str(rollouts), str(rollouts), "+0%"]
        spent = ("tokens", "sampled_tokens", "sampling_cpu_s", "update_cpu_s")
        assert all(float(rows[name][1].replace(",", "")) > 0 for name in spent[:3])
        assert set(spent) <= set(rows)
