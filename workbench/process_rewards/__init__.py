"""Process rewards: a model that says at every turn how well the attempt is going.

Stage: beside the loop. Groups go in; the same groups come out with a number for each turn, made
by a model that was fitted to labels: it costs one forward pass where re-rolls cost many episodes.
`places` says where it reads, `model` what it is, `labels` what it should have said, `fitting` how
it learns that, `critic` how it does so while a policy is trained.
"""

from workbench.process_rewards.critic import Critic
from workbench.process_rewards.fitting import FitConfig, fit
from workbench.process_rewards.labels import outcome_labels
from workbench.process_rewards.model import TurnModel

__all__ = ["Critic", "FitConfig", "TurnModel", "fit", "outcome_labels"]
