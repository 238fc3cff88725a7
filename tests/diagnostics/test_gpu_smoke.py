"""The script that checks a GPU runs on this machine, with one or without."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu_smoke.py"


@pytest.fixture
def smoke(monkeypatch):
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("gpu_smoke", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # its dataclass asks for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_check_is_made_or_says_that_there_is_no_gpu(smoke, capsys):
    assert smoke.main(["--smallest"]) == 0
    rows = re.findall(r"^(.{23}) *[\d.]+ s  (.*)$", capsys.readouterr().out, re.MULTILINE)
    told = {name.strip(): words for name, words in rows}
    assert list(told) == [name for name, _, _ in smoke.CHECKS]
    absent = {name for name, words in told.items() if words == smoke.NO_GPU}
    needing = {name for name, _, needs_gpu in smoke.CHECKS if needs_gpu}
    assert absent == (set() if torch.cuda.is_available() else needing)


def test_a_check_that_fails_is_told_and_the_others_are_made(smoke, capsys, monkeypatch):
    def broken(bench):
        raise ValueError("the trainer has no gradient")

    checks = (("broken", broken, False), ("whole", lambda bench: "seven", False))
    monkeypatch.setattr(smoke, "CHECKS", checks)
    assert smoke.main(["--smallest"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("FAILED: ValueError: the trainer has no gradient")
    assert second.endswith("seven")


def test_a_gradient_of_zero_or_nan_fails(smoke):
    class Trainer:
        pass

    trainer, trainer.state = Trainer(), Trainer()
    for norms in ([0.1, 0.0], [float("nan")]):
        rows = [{"grad_norm": norm, "step_time": 1.0} for norm in norms]
        trainer.state.log_history = rows
        with pytest.raises(RuntimeError, match="expected > 0"):
            smoke._trained(trainer, "reward_std")
