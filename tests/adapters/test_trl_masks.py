"""A batch that TRL's trainer hands to its loss, as the mask viewer shows it."""

import pytest

from tests.adapters.conftest import BUGFIX, HONEST
from workbench.adapters import as_dataset, as_reward, environment_factory
from workbench.widgets import MaskViewer

pytestmark = pytest.mark.slow


def test_tool_answers_are_read_and_not_learned(folder, sandbox, grpo_config):
    from trl import GRPOTrainer

    seen = []

    class Watched(GRPOTrainer):
        def _compute_loss(self, model, inputs):
            seen.append(inputs)
            return super()._compute_loss(model, inputs)

    trainer = Watched(
        model=folder,
        args=grpo_config(max_completion_length=128, max_tool_calling_iterations=2),
        train_dataset=as_dataset(BUGFIX, conversational=True),
        reward_funcs=as_reward(HONEST, BUGFIX, sandbox),
        environment_factory=environment_factory(BUGFIX, sandbox),
    )
    trainer.train()
    inputs = seen[0]
    viewer = MaskViewer(inputs, trainer.processing_class)
    mask = inputs["completion_mask"] * inputs.get("tool_mask", 1)
    assert len(viewer.rows) == len(mask)
    for row, learns in zip(viewer.rows, mask.bool()):
        assert row.loss_mask[-len(learns) :].tolist() == learns.tolist()
        assert not row.loss_mask[: -len(learns)].any()
        assert (row.loss_mask <= row.attention_mask).all()
    assert "✗" not in viewer.text
