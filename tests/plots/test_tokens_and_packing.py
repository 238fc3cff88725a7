"""What the loss does with a token, and packed rows: by hand, and against the loop's own code."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.by_hand import attempt
from workbench import plots
from workbench.credit import gigpo
from workbench.learning import pack
from workbench.learning.losses import clipped_ratio_loss
from workbench.plots.crediting import solved_rewards
from workbench.plots.packing import (
    KINDS,
    rows_of_arrays,
    rows_of_batch,
    rows_of_group,
)
from workbench.plots.tokens import as_decode, clip_state, tokens_of_turn
from workbench.records import Action, Group, ToolCall, Turn

SAID = Turn(
    Action((7, 8), (math.log(0.5), math.log(0.25)), "run", "end_of_turn", 3, (1, 2)),
    ToolCall("run", ""), None, "ok", "0" * 16,
)  # fmt: skip


def test_only_sampled_tokens_are_in_the_loss_and_the_ratio_is_new_over_old():
    new = [math.log(0.75), math.log(0.25)]
    tokens = tokens_of_turn(SAID, 2.0, decode=lambda ids: f"<{ids[0]}>", new_logprobs=new)
    assert [t.text for t in tokens] == ["<1>", "<2>", "<7>", "<8>"]
    assert [t.in_loss for t in tokens] == [False, False, True, True]
    assert [t.ratio for t in tokens[2:]] == pytest.approx([1.5, 1.0])
    assert [t.clip for t in tokens[2:]] == ["high", ""]
    assert math.isnan(tokens[0].advantage) and tokens[2].advantage == 2.0
    assert [t.clip for t in tokens_of_turn(SAID, -2.0, new_logprobs=new)[2:]] == ["", ""]


def test_a_turn_without_credit_has_no_token_in_the_loss():
    tokens = tokens_of_turn(SAID, math.nan)
    assert not any(t.in_loss for t in tokens) and tokens[2].text == "⟨7⟩"


def test_clipping_is_the_loops_own():
    rng = np.random.default_rng(0)
    ratios, advantages = rng.uniform(0.3, 2.0, 200), rng.normal(size=200)
    logs = torch.tensor(np.log(ratios), requires_grad=True)
    batch = torch.zeros(200), torch.tensor(advantages), torch.ones(200, dtype=torch.bool)
    clipped_ratio_loss(logs, *batch, clip_low=0.2, clip_high=0.28).sum().backward()
    theirs = logs.grad == 0
    ours = [clip_state(r, a, 0.2, 0.28) != "" for r, a in zip(ratios, advantages)]
    assert ours == theirs.tolist() and 0 < sum(ours) < 200


def test_new_logprobs_must_be_of_the_sampled_tokens():
    with pytest.raises(ValueError, match="one for each of 2 sampled tokens, got 4"):
        tokens_of_turn(SAID, 1.0, new_logprobs=[0.0] * 4)
    with pytest.raises(ValueError, match="decode: expected a tokenizer or a function"):
        as_decode(3)


def test_the_rows_of_a_group_are_those_that_are_trained_on(before_after):
    group = before_after.groups(stage="halfway")[0]
    credit = gigpo(group, solved_rewards(group))
    credit[1] = np.full(len(credit[1]), np.nan)  # not judged: `pack` leaves it out
    batch = pack([group], [credit])
    rows = [row for row in rows_of_group(group, credit) if row.loss_mask.any()]
    assert len(rows) == len(batch) == len(group.trajectories) - 1
    for row, length, b in zip(rows, batch.lengths.tolist(), range(len(batch))):
        assert row.ids.tolist() == batch.ids[b, :length].tolist()
        assert row.loss_mask.tolist() == batch.loss_mask[b, :length].tolist()
        shown = np.nan_to_num(row.advantages)
        assert shown == pytest.approx(batch.advantages[b, :length].numpy(), abs=1e-6)
        assert np.nan_to_num(row.logprobs) == pytest.approx(
            batch.old_logprobs[b, :length].numpy(), abs=1e-6
        )
        assert (row.loss_mask == (row.kinds == KINDS.index("action"))).all()
    again = rows_of_batch(batch)
    assert [r.loss_mask.sum() for r in again] == [r.loss_mask.sum() for r in rows]
    assert again[0].kinds[-1] in (KINDS.index("padding"), KINDS.index("action"))


def test_a_turn_that_keeps_less_of_the_prompt_starts_a_row_of_its_own(after):
    first = replace(SAID, action=replace(SAID.action, kept_prefix=0))
    second = replace(SAID, action=replace(SAID.action, kept_prefix=1, new_ids=(5,)))
    group = Group(after.task_id, "", (replace(after, turns=(first, second)),))
    rows = rows_of_group(group, [[1.0, -1.0]])
    assert [row.label for row in rows] == ["attempt 0", "attempt 0, from turn 2"]
    assert [row.ids.tolist() for row in rows] == [[1, 2, 7, 8], [1, 5, 7, 8]]
    assert [row.loss_mask.tolist() for row in rows] == [[False, False, True, True]] * 2
    batch = pack([group], [[np.array([1.0, -1.0])]])
    assert batch.ids[:, :4].tolist() == [row.ids.tolist() for row in rows]


def test_two_agents_of_an_attempt_have_a_row_each_as_in_training(after):
    look = replace(SAID, agent="locator", action=replace(SAID.action, kept_prefix=0))
    edit = replace(look, agent="editor")
    more = replace(look, action=replace(SAID.action, kept_prefix=4, new_ids=(9,)))
    group = Group(after.task_id, "", (replace(after, turns=(look, edit, more)),))
    rows = rows_of_group(group, [[1.0, -1.0, 0.5]])
    assert [row.label for row in rows] == ["attempt 0, locator", "attempt 0, editor"]
    batch = pack([group], [[np.array([1.0, -1.0, 0.5])]])
    for row, ids in zip(rows, batch.ids.tolist(), strict=True):
        assert row.ids.tolist() == ids[: len(row)]
    assert [KINDS[kind] for kind in rows[0].kinds[[0, 4]]] == ["prompt", "observation"]


def test_a_token_of_bare_arrays_is_prompt_before_the_first_that_learns():
    (row,) = rows_of_arrays([5, 6, 7, 8, 9, 0], [0, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 0],
                            advantages=[-0.5])  # fmt: skip
    named = [KINDS[kind] for kind in row.kinds]
    assert named == ["prompt", "prompt", "action", "observation", "action", "padding"]
    assert row.turns.tolist() == [0, 0, 0, 1, 1, 1]
    assert row.advantages[[2, 4]].tolist() == [-0.5, -0.5] and np.isnan(row.advantages[3])
    with pytest.raises(ValueError, match=r"loss_mask: expected the shape of ids, \(1, 2\)"):
        rows_of_arrays([1, 2], [1, 0, 1])


def test_trls_batch_is_prompt_padded_on_the_left_and_completion_on_the_right():
    inputs = {
        "prompt_ids": torch.tensor([[0, 1, 2]]),
        "prompt_mask": torch.tensor([[0, 1, 1]]),
        "completion_ids": torch.tensor([[3, 4, 5, 0]]),
        "completion_mask": torch.tensor([[1, 1, 1, 0]]),
        "tool_mask": torch.tensor([[1, 0, 1, 1]]),
        "advantages": torch.tensor([1.5], dtype=torch.bfloat16),
        "old_per_token_logps": None,
    }
    (row,) = rows_of_batch(inputs)
    named = [KINDS[kind] for kind in row.kinds]
    assert named == ["padding", "prompt", "prompt", "action", "observation", "action", "padding"]
    assert row.ids.tolist() == [0, 1, 2, 3, 4, 5, 0]
    assert row.advantages[3] == row.advantages[5] == 1.5 and np.isnan(row.advantages[4])


def test_what_is_no_batch_is_refused():
    with pytest.raises(ValueError, match=r"batch: expected ids and loss_mask.*got \['x'\]"):
        rows_of_batch({"x": 1})
    with pytest.raises(ValueError, match=r"or TRL's completion_ids.*got \['completion_ids'\]"):
        rows_of_batch({"completion_ids": np.ones((1, 2), int)})
    with pytest.raises(ValueError, match="batch: expected ids and loss_mask.*got object"):
        rows_of_batch(object())


def test_the_still_of_a_row_has_a_band_for_each_mask():
    (row,) = rows_of_arrays([5, 6, 7, 8], [0, 1, 1, 0], advantages=[-0.5])
    axes = plots.packed_row(row).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["written by", "loss mask", "attention", "advantage ±0.5"]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0, -0.4, -0.4, 0])


def test_a_number_a_row_is_one_where_rows_are_as_many_as_tokens():
    ids, mask = [[1, 2], [3, 4]], [[0, 1], [1, 1]]
    first, second = rows_of_arrays(ids, mask, advantages=[0.5, -1.0])
    assert np.isnan(first.advantages[0]) and first.advantages[1] == 0.5
    assert second.advantages.tolist() == [-1.0, -1.0]
    [row] = rows_of_arrays([1, 2], [1, 1], advantages=[0.5, -1.0])
    assert row.advantages.tolist() == [0.5, -1.0]


def test_credit_of_another_number_of_turns_is_refused():
    group = Group("by-hand", "", (attempt(),))  # of one turn
    with pytest.raises(ValueError, match=r"1 of them, one a turn, for attempt 0; got shape \(2,\)"):
        rows_of_group(group, [np.zeros(2)])
