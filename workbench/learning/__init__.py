"""Learning: the loop that makes a policy better by its own attempts.

Stage: the end of the loop, the only room that changes weights. `loop` and `rft` are the two
recipes, to be read from top to bottom; `batch`, `losses`, `forward` and `update` are what they are
made of; `run`, `journal` and `checkpoint` keep a run alive, watched and resumable.
"""

from workbench.learning.batch import Batch, pack
from workbench.learning.config import RFTConfig, RLConfig, TrainConfig
from workbench.learning.forward import policy_logprobs
from workbench.learning.losses import (
    clipped_ratio_loss,
    constant_length_weights,
    imitation_loss,
    reinforce_loss,
    sequence_mean_weights,
    sequence_ratio_loss,
    token_mean_weights,
)
from workbench.learning.progress import Progress
from workbench.learning.run import HONEST, Run, TrainResult, train

__all__ = [
    "HONEST",
    "Batch",
    "Progress",
    "RFTConfig",
    "RLConfig",
    "Run",
    "TrainConfig",
    "TrainResult",
    "clipped_ratio_loss",
    "constant_length_weights",
    "imitation_loss",
    "pack",
    "policy_logprobs",
    "reinforce_loss",
    "sequence_mean_weights",
    "sequence_ratio_loss",
    "token_mean_weights",
    "train",
]
