"""What evidence costs: the price of a credit scheme is not the arithmetic.

Stage: counterfactuals. A sandbox and a block of code in, a `Cost` out.
Left out: money, and wall-clock time, which depends on what else the machine does.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox


@dataclass(frozen=True)
class Cost:
    """What was spent."""

    num_rollouts: int = 0
    """Episodes played, sampled or replayed; a rest of an episode counts as one."""
    num_sampled_tokens: int = 0
    """Tokens the policy sampled for them."""
    cpu_s: float = 0.0
    """CPU seconds of this process and of the sandbox's programs."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.num_rollouts + other.num_rollouts,
            self.num_sampled_tokens + other.num_sampled_tokens,
            self.cpu_s + other.cpu_s,
        )


class CpuMeter:
    """CPU seconds since it was made, this process's and the sandbox's."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._start = self._now()

    def seconds(self) -> float:
        """Seconds so far."""
        return self._now() - self._start

    def _now(self) -> float:
        return time.process_time() + self._sandbox.stats.cpu_s
