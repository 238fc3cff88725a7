"""A workbench for learning and prototyping reinforcement learning for coding agents.

The names below are the doors people use. Each is loaded from its room when first asked for, so
that `import workbench` needs neither torch nor an installed environment.
"""

from __future__ import annotations

import importlib
from typing import Any

_ROOM_OF = {
    "RewardDesign": "rewards",
    "budget": "fast_mode",
    "compare": "experiments",
    "doctor": "diagnostics",
    "evaluate": "evaluation",
    "grade": "grading",
    "load_run": "runlog",
    "load_tasks": "tasks",
    "open_policy": "policies",
    "open_sandbox": "sandbox",
    "rollout": "episodes",
    "train": "learning",
}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'workbench' has no name {name!r}; it has {__all__}")
    value = getattr(importlib.import_module(f"workbench.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
