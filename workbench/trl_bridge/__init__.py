"""The bridge to TRL and PEFT: the same tasks, episodes, rewards and credit under TRL's trainers.

Stage: learning, through TRL. `MultiTurn` plays episodes for TRL, `TurnGRPOTrainer` gives each turn
its own advantage, `grpo_config` says our settings in TRL's words. docs/trl.md has the dozen lines,
and what TRL does differently from the loop in `workbench.learning`. The names below are loaded
when first asked for: importing TRL takes seconds.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULE_OF = {
    "DAPO": "settings",
    "DR_GRPO": "settings",
    "GRPO": "settings",
    "METHODS": "settings",
    "MultiTurn": "multi_turn",
    "RunLogCallback": "run_log",
    "Scale": "scale",
    "SingleTurn": "single_turn",
    "TokenSequence": "sequences",
    "TurnGRPOTrainer": "turn_trainer",
    "as_rollout": "sequences",
    "conformance": "side_by_side",
    "grpo_config": "settings",
    "imitation_dataset": "imitation",
    "sft_config": "imitation",
    "sequences_of": "sequences",
    "trained_policy": "multi_turn",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no name {name!r}; it has {__all__}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
