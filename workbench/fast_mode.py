"""One function decides how large a notebook's runs are.

Stage: outside the loop. Tests set WORKBENCH_FAST=1, so that every notebook runs in seconds with
the same text and fewer iterations. Whatever shows numbers says then that they mean nothing.
"""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def budget(full: T, fast: T) -> T:
    """`full`, or `fast` when the environment variable WORKBENCH_FAST is 1.

    >>> iterations = budget(40, fast=2)
    """
    return fast if is_fast() else full


def is_fast() -> bool:
    """Whether WORKBENCH_FAST is 1."""
    return os.environ.get("WORKBENCH_FAST") == "1"
