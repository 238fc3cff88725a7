"""Process rewards: a model that says at every turn how well the attempt is going.

Stage: beside the loop. Groups go in; the same groups come out with a number for each turn, made
by a model that was fitted to labels: it costs one forward pass where re-rolls cost many episodes.
`places` says where it reads, `model` what it is, `labels` and `first_error` what it should have
said, `fitting` how it learns that, `scoring` how its scores become evidence, `critic` how it learns
while a policy is trained; `reliability`, `choosing` and `probes` how far to trust it.
"""

from workbench.process_rewards.choosing import best_of_n, best_of_n_curve, turning_point
from workbench.process_rewards.critic import Critic
from workbench.process_rewards.first_error import FirstError, any_succeeds, first_error
from workbench.process_rewards.fitting import FitConfig, fit
from workbench.process_rewards.labels import execution_labels, outcome_labels, value_labels
from workbench.process_rewards.model import TurnModel
from workbench.process_rewards.probes import PROBES, padded
from workbench.process_rewards.ranking import average_precision, rank_correlation
from workbench.process_rewards.reliability import (
    Reliability,
    best_threshold,
    first_below,
    harmonic_mean,
    reliability,
)
from workbench.process_rewards.scoring import Refitting, Scoring, score_turns

__all__ = [
    "PROBES",
    "Critic",
    "FirstError",
    "FitConfig",
    "Refitting",
    "Reliability",
    "Scoring",
    "TurnModel",
    "any_succeeds",
    "average_precision",
    "best_of_n",
    "best_of_n_curve",
    "best_threshold",
    "execution_labels",
    "first_below",
    "first_error",
    "fit",
    "harmonic_mean",
    "outcome_labels",
    "padded",
    "rank_correlation",
    "reliability",
    "score_turns",
    "turning_point",
    "value_labels",
]
