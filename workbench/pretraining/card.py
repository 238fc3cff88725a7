"""The shipped policy's card: how it was made, what it can do, and how to make it again.

Stage: pretraining. In: a finished policy's folder. Out: `README.md` and `card.json` in it. The
figures are those of the dev split; test is kept for what is published about training.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from workbench.evaluation import evaluate
from workbench.policies import open_policy
from workbench.pretraining.training import PretrainConfig, pretrain
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks

SUITES = ("bugfix", "functions")


def make_policy(
    folder: str | Path,
    config: PretrainConfig = PretrainConfig(),
    *,
    log: Callable[[str], None] = print,
) -> dict:
    """Pretrain, measure on dev, write the card; returns the card's content."""
    folder = Path(folder)
    lines: list[str] = []

    def remember(line: str) -> None:
        lines.append(line)
        log(line)

    pretrain(folder, config, log=remember)
    return write_card(folder, config, lines, log=log)


def write_card(
    folder: Path, config: PretrainConfig, lines: list[str], *, log: Callable[[str], None] = print
) -> dict:
    """Measure the policy in `folder` on dev and write its card; `lines` is the training's log."""
    policy = open_policy(folder)
    measured = {}
    with open_sandbox("auto") as sandbox:
        for suite in SUITES:
            found = evaluate(policy, load_tasks(suite, split="dev"), sandbox, seed=0)
            measured[suite] = {
                "solved": found.solve_rate.estimate,
                "low": found.solve_rate.low,
                "high": found.solve_rate.high,
                "malformed": found.malformed_share,
                "edited_tests": found.edited_tests_share,
            }
            log(f"{suite}: {found}")
    card = {
        "policy_hash": policy.version,
        "num_parameters": sum(p.numel() for p in policy.model.parameters()),
        "config": dataclasses.asdict(config),
        "training_log": lines,
        "dev": measured,
        "made_on": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, one thread",
        "versions": {name: version(name) for name in ("torch", "transformers", "tokenizers")},
    }
    (folder / "card.json").write_text(json.dumps(card, indent=1) + "\n")
    (folder / "README.md").write_text(_readme(card))
    return card


def _readme(card: dict) -> str:
    rows = "\n".join(
        f"| {suite} | {100 * m['solved']:.1f} % | {100 * m['low']:.1f}-{100 * m['high']:.1f} % |"
        for suite, m in card["dev"].items()
    )
    return f"""# The tiny policy

A Llama-architecture language model with {card["num_parameters"]:,} parameters, made by
`python3 -m workbench pretrain` from text that this project generates; it has seen no other text.
It knows six commands (`ls cat grep run edit submit`), a small corner of Python, and behaviour of
mixed quality: about one scripted episode in five was competent. How skilled it starts is a dial
of that corpus (`workbench/pretraining/behaviours.py`, WEIGHTS).

| suite, dev split, temperature 1, 256 tasks | solved | 95 % interval |
|---|---|---|
{rows}

Policy hash `{card["policy_hash"]}`, made on {card["made_on"]}; settings, training log and package
versions are in `card.json`. No composition of the dev or test split occurs in its corpus.
Licence: Apache-2.0.
Use it to learn how RL works on code; it is of no use as a programmer.
"""
