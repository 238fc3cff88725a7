"""Packages that only one adapter needs: imported when it is asked for, never before.

Stage: adapters. A name goes in, the module comes out, or an error that says what to install.
"""

from __future__ import annotations

import importlib
from types import ModuleType

REQUIRED = {"gymnasium": "gymnasium>=1.2,<2", "verifiers.v1": "verifiers>=0.4,<0.5"}
"""Module -> what to install for it; the extra "adapters" of pyproject.toml."""


def needed(module: str) -> ModuleType:
    """The imported module, one of REQUIRED. Raises ImportError that says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"this adapter needs {REQUIRED[module]!r}, which is not part of the locked "
            f"environment ({error}); install it with: pip install '{REQUIRED[module]}'"
        ) from error
