"""What a policy is: something that opens sessions, and sessions that take part in episodes.

Stage: policy. Every policy (scripted, tiny, any causal LM) keeps these two protocols, so that
`episodes` and `evaluation` never ask which one they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.records import Action, SamplerSettings


class Session(Protocol):
    """Several episodes in progress, one per row."""

    def observe(self, i: int, text: str) -> None:
        """Give row `i` its next observation; the first one is the task statement."""

    def act(self, live: Sequence[int]) -> list[Action]:
        """One action for each row in `live`, in that order; each has a new observation."""

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row in `live` had just chosen its recorded action."""

    def take(self, rows: Sequence[int]) -> Session:
        """A new session whose row j continues `rows[j]`; this session stays as it is."""

    def close(self) -> None:
        """Free what the session holds."""


class Policy(Protocol):
    """Weights, or a script, that act."""

    @property
    def version(self) -> str:
        """Changes whenever the policy would act differently."""

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> Session:
        """A session of `n` rows; the same seed and observations give the same actions."""
