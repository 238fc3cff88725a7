"""What an attempt is paid, and for what.

Stage: after `workbench.rewards` has scored a trajectory. Left out: advantages, which are never kept
in one field with a reward.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RewardPart:
    """One named component of a reward."""

    name: str
    """Name within the design."""
    raw: float | None
    """What the component returned; None = it could not judge."""
    weight: float
    """The design's weight."""
    gated: bool = False
    """True = behind a closed gate: it counts as 0, whatever it returned."""
    omitted: bool = False
    """True = an optional component that could not judge: left out of the sum, and counted."""

    @property
    def weighted(self) -> float | None:
        """raw * weight, 0.0 behind a closed gate, None where it could not judge."""
        if self.gated:
            return 0.0
        return None if self.raw is None else self.raw * self.weight


@dataclass(frozen=True)
class RewardBreakdown:
    """A reward and where it came from; separate from any advantage."""

    parts: tuple[RewardPart, ...]
    """Every component."""
    total: float | None
    """The reward; None = could not be judged, and the trajectory leaves its group's baseline."""
    blocked: tuple[str, ...] = ()
    """Blockers that failed: with any of them the total is 0, whatever the parts say."""
    divisor: float = 1.0
    """What the sum of the weighted parts was divided by: of a normalised design the sum of the
    weights that were judged."""
