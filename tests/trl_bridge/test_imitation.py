"""Rejection fine-tuning through TRL: the ids and the loss are ours."""

from dataclasses import replace

import pytest
import torch

from tests.trl_bridge.conftest import TASKS
from workbench.episodes import rollout_many
from workbench.learning import RFTConfig, imitation_loss, policy_logprobs, token_mean_weights
from workbench.learning.rft import imitation_batch, select
from workbench.policies import ScriptedPolicy, open_policy
from workbench.pretraining.behaviours import find_bug

pytestmark = pytest.mark.slow
RFT = RFTConfig(batch_size=4, epochs=1, lr=1e-3)


@pytest.fixture(scope="module")
def solved(sandbox, folder):
    """Groups of which one attempt each solved its task, after a slip; ids by the policy's codec."""
    tokenizer = open_policy(folder).tokenizer
    groups = []
    for task in TASKS[:6]:
        bug = find_bug(task)
        texts = ["not a command", f"edit {bug.path} {bug.number}|{bug.right}", "submit"]
        group = rollout_many(ScriptedPolicy(texts), [task], sandbox, n=1)[0]
        turns, length = [], 0
        for turn in group.trajectories[0].turns:
            ids = tuple(tokenizer.encode(turn.action.text)) + (tokenizer.eos_token_id,)
            new = tuple(tokenizer.encode(turn.observation or "seen"))
            action = replace(
                turn.action, ids=ids, logprobs=(-1.0,) * len(ids), new_ids=new, kept_prefix=length
            )
            turns.append(replace(turn, action=action))
            length += len(new) + len(ids)
        trajectory = replace(group.trajectories[0], turns=tuple(turns))
        groups.append(replace(group, trajectories=(trajectory,)))
    return groups


@pytest.fixture
def make(folder, tmp_path, solved):
    """A function that makes a trainer on the imitated attempts."""
    from trl import SFTTrainer

    from workbench.trl_bridge import imitation_dataset, sft_config

    def make(**changes):
        return SFTTrainer(
            model=folder,
            args=sft_config(tmp_path / "sft", RFT, lora=False, **changes),
            train_dataset=imitation_dataset(solved, TASKS),
        )

    return make


def test_trl_keeps_every_id_and_every_label(make, solved):
    batch = imitation_batch(select(solved, TASKS, 2))
    assert len(batch) == 6
    expected = set()
    for b, n in enumerate(batch.lengths.tolist()):
        ids, mask = batch.ids[b, :n].tolist(), batch.loss_mask[b, :n].tolist()
        assert 0 < sum(mask) < n
        expected.add((tuple(ids), tuple(i if m else -100 for i, m in zip(ids, mask))))
    found = set()
    for minibatch in make().get_train_dataloader():
        for ids, labels, seen in zip(*(minibatch[k].tolist() for k in KEYS)):
            n = sum(seen)
            assert labels[n:] == [-100] * (len(labels) - n)
            found.add((tuple(ids[:n]), tuple(labels[:n])))
    assert found == expected


KEYS = ("input_ids", "labels", "attention_mask")


def test_a_message_that_was_no_command_has_no_label(make, solved):
    slip = solved[0].trajectories[0].turns[0]
    assert slip.parse_error is not None
    row = make().train_dataset[0]
    start = len(slip.action.new_ids)
    assert row["input_ids"][start : start + len(slip.action.ids)] == list(slip.action.ids)
    assert set(row["labels"][: start + len(slip.action.ids)]) == {-100}


def test_the_first_loss_is_our_imitation_loss(make, solved, folder):
    trainer = make(per_device_train_batch_size=6)
    trainer.train()
    first = next(row for row in trainer.state.log_history if "loss" in row)
    batch = imitation_batch(select(solved, TASKS, 2))
    with torch.no_grad():
        logprobs, _ = policy_logprobs(open_policy(folder).model, batch)
    ours = float((token_mean_weights(batch.loss_mask) * imitation_loss(logprobs)).sum())
    assert first["loss"] == pytest.approx(ours, rel=1e-4)


def test_nothing_to_imitate_is_said(solved, sandbox):
    from workbench.trl_bridge import imitation_dataset

    nothing = rollout_many(ScriptedPolicy(["submit"]), TASKS[:2], sandbox, n=2)
    with pytest.raises(ValueError, match="an attempt that solved its task, got none among 4"):
        imitation_dataset(nothing, TASKS)
