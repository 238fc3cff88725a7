"""Evidence that is collected when somebody asks for it, also long after the episode.

Stage: grading, after it. Groups of trajectories go in, the same groups with more evidence come out:
what ruff and Bandit say of the final files (these two run no program), which lines the hidden
tests executed, how fast the program is beside the reference, whether the agent's own tests would
have found the fault. Rewards then read it like everything else that was recorded.
"""

from workbench.grading.collectors.collecting import (
    COLLECTORS,
    check_collectors,
    collect,
    collect_for,
)
from workbench.grading.collectors.storing import store_collected

__all__ = ["COLLECTORS", "check_collectors", "collect", "collect_for", "store_collected"]
