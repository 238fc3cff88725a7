"""Pretraining: how the shipped base policy is made from generated text.

Stage: before the loop. `behaviours` scripts agents of mixed quality, `corpus` turns them into
documents, `training` trains the model, `card` measures it and says how it was made. Nothing in
the loop imports this room.
"""

from workbench.pretraining.card import make_policy
from workbench.pretraining.training import PretrainConfig, pretrain

__all__ = ["PretrainConfig", "make_policy", "pretrain"]
