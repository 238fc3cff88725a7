"""The same reward and environment in other libraries' signatures, and the way back.

Stage: beside the loop, above grading, rewards and environments. A design, tasks and a sandbox go
in; what TRL, verifiers or gymnasium call comes out. docs/adapters.md has a snippet for each and
says what is not carried over.
"""

from workbench.adapters.borrowed import from_trl, from_verifiers
from workbench.adapters.gymnasium_env import as_gymnasium
from workbench.adapters.saving import save_as_module
from workbench.adapters.trl_environment import as_dataset, environment_factory
from workbench.adapters.trl_rewards import as_async_reward, as_reward, as_rewards
from workbench.adapters.verifiers_v1 import as_taskset
from workbench.environments.answers import code_of

__all__ = [
    "as_async_reward",
    "as_dataset",
    "as_gymnasium",
    "as_reward",
    "as_rewards",
    "as_taskset",
    "code_of",
    "environment_factory",
    "from_trl",
    "from_verifiers",
    "save_as_module",
]
