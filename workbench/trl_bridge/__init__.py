"""The same tasks, environment and rewards in the shape TRL's trainers ask for.

Stage: beside `learning`: another trainer on the same parts. Left out for now: reward functions
for other trainers, a doctor for configurations.
"""

from workbench.trl_bridge.environment import BugfixEnvironment, bugfix_environment, dataset_rows

__all__ = ["BugfixEnvironment", "bugfix_environment", "dataset_rows"]
