"""A reward written in a notebook as a module that another process can import.

Stage: adapters. A function or a design goes in; a file is written, tried in a fresh interpreter and
imported, and what it defines comes out. Trainers that score in another process (TRL's asynchronous
one) send functions by name: those of a notebook arrive nowhere. Left out: tasks and sandbox, which
are given to `as_reward` as ever, the sandbox as a function that opens one.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.adapters.sources import HEADER, Sources, design_text
from workbench.rewards import RewardDesign

_TRIAL = """
import importlib, json, pickle, sys
sys.path[:], module, name = json.loads(sys.stdin.read())
pickle.loads(pickle.dumps(getattr(importlib.import_module(module), name)))
"""


def save_as_module(reward: Callable[..., Any] | RewardDesign, path: str | Path) -> Any:
    """The same function, or design, imported from the module that is written to `path`.

    Written are the function's source, the imports its names stand for, and functions of the
    notebook that it calls. A file that this function wrote before is replaced.

    Args:
        reward: a function defined in a cell; or a design of such functions and of `all_pass(...)`
            and its like, which is called `design` in the module.
        path: e.g. "my_reward.py", in a folder Python imports from: the notebook's own is one.
    Raises:
        ValueError: for a lambda, a closure, a method, any other object, a value of the notebook
            that the function reads; for a path that cannot be imported, is taken, or hides another
            module; if a fresh interpreter cannot import it. Nothing is left behind then.
    """
    path = Path(path).resolve()
    _check(path)
    if isinstance(reward, RewardDesign):
        name, text = "design", design_text(reward)
    else:
        sources = Sources()
        name, text = sources.add(reward), sources.text()
    before = path.read_text("utf-8") if path.exists() else None
    _write(path, text)
    trial = subprocess.run(
        [sys.executable, "-c", _TRIAL],
        input=json.dumps([sys.path, path.stem, name]),
        capture_output=True,
        text=True,
    )
    if trial.returncode != 0:
        path.unlink() if before is None else _write(path, before)
        why = trial.stderr.strip().rpartition("\n")[2]
        raise ValueError(f"{path.name}: a fresh interpreter cannot import it: {why}")
    importlib.invalidate_caches()
    sys.modules.pop(path.stem, None)
    return getattr(importlib.import_module(path.stem), name)


def _write(path: Path, text: str) -> None:
    """Python takes stored bytecode for that of a text with the same length and second: it goes."""
    path.write_text(text, "utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _check(path: Path) -> None:
    """Raises ValueError unless a module may be written there."""
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise ValueError(f"path: expected a name such as 'my_reward.py', got {path.name!r}")
    if path.parent not in {Path(folder or ".").resolve() for folder in sys.path}:
        raise ValueError(
            f"path: Python does not import from {str(path.parent)!r}; write it beside the "
            "notebook, or add that folder to sys.path first"
        )
    if path.exists() and not path.read_text("utf-8").startswith(HEADER):
        raise ValueError(f"path: {path.name} is there and was not written by save_as_module")
    found = importlib.util.find_spec(path.stem)
    if found is not None and Path(found.origin or "").resolve() != path:
        raise ValueError(
            f"path: a module {path.stem!r} is imported from elsewhere ({found.origin}); choose "
            "another name"
        )
