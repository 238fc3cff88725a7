"""Two agents, one update: each has its own sequence, and one may learn while the other does not."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from workbench.credit import by_agent, transitions
from workbench.environments import EDITOR, LOCATOR
from workbench.episodes import rollout_many
from workbench.learning.batch import pack
from workbench.learning.config import RLConfig
from workbench.learning.forward import policy_logprobs
from workbench.learning.loop import token_loss
from workbench.learning.losses import token_mean_weights
from workbench.learning.optimiser import make_optimiser
from workbench.learning.update import update
from workbench.policies import Team
from workbench.records import Group, SamplerSettings, from_json, to_json

SHARED = {replace(LOCATOR, max_turns=2): "locator", EDITOR: "editor"}
"""An untrained policy never says `hand`: after two messages its last answer is handed over."""
SHORT = SamplerSettings(max_action_tokens=16)


def says(name):
    """Whether a turn is this agent's."""
    return lambda turn: turn.agent == name


@pytest.fixture
def played(make_policy, tasks, sandbox):
    """(policies by name, groups of the team they make)."""
    policies = {"locator": make_policy(seed=1), "editor": make_policy(seed=2)}
    team = Team({agent: policies[name] for agent, name in SHARED.items()})
    groups = rollout_many(team, tasks[:2], sandbox, n=3, max_turns=5, sampler=SHORT)
    return policies, groups


def read_back(group):
    return from_json(Group, to_json(group))


def test_an_agents_sequence_holds_what_it_saw_and_said(by_hand):
    turns = [
        by_hand.turn([20, 2], [-0.5, -0.5], [1, 10, 4], 0),
        by_hand.turn([21, 2], [-0.4, -0.4], [1, 11, 12, 4], 0),  # the editor's context is its own
        by_hand.turn([22, 2], [-0.3, -0.3], [13, 4], 5),
        by_hand.turn([23, 2], [-0.2, -0.2], [14, 4], 6),
    ]
    names = ("locator", "editor", "locator", "editor")
    turns = [replace(turn, agent=name) for turn, name in zip(turns, names)]
    group = by_hand.group(by_hand.trajectory(turns))
    batch = pack([group], [[[0.25, 1.0, -0.5, 2.0]]])
    rows = [batch.ids[b][batch.attention_mask[b]].tolist() for b in range(2)]
    assert rows == [[1, 10, 4, 20, 2, 13, 4, 22, 2], [1, 11, 12, 4, 21, 2, 14, 4, 23, 2]]
    assert batch.advantages[batch.loss_mask].tolist() == [0.25] * 2 + [-0.5] * 2 + [1] * 2 + [2] * 2
    learned = pack([group], [[1.0]], learns=says("editor"))
    assert learned.ids[0][learned.attention_mask[0]].tolist() == rows[1] and len(learned) == 1


def test_each_agents_tokens_have_the_logprobs_it_sampled_them_with(played):
    policies, groups = played
    for name, policy in policies.items():
        batch = pack(groups, [[1.0] * 3] * 2, learns=says(name))
        logprobs, _ = policy_logprobs(policy.model, batch)
        spoken = [t for g in groups for tr in g.trajectories for t in tr.turns if t.agent == name]
        assert batch.num_policy_tokens == sum(len(t.action.ids) for t in spoken) > 50
        assert (logprobs.detach() - batch.old_logprobs).abs().max() < 1e-4


def test_a_stored_team_run_packs_to_the_same_batch(played):
    groups = played[1]
    again = [read_back(group) for group in groups]
    assert again == groups
    first, second = (pack(g, [[1.0] * 3] * 2) for g in (groups, again))
    assert all(torch.equal(getattr(first, f), getattr(second, f)) for f in vars(first))


def test_only_the_editor_learns(played):
    policies, groups = played
    before = {name: policy.version for name, policy in policies.items()}
    rewards = [0.0, 1.0, 0.0]
    credit = [transitions(group, rewards, agents={"editor"}) for group in groups]
    batch = pack(groups, credit)
    assert torch.equal(batch.ids, pack(groups, credit, learns=says("editor")).ids)
    config = RLConfig(lr=1e-3)
    update(
        *(policies["editor"].model, make_optimiser(policies["editor"].model, config), batch),
        *(token_loss(config), token_mean_weights),
        grad_clip=1.0,
        dtype="float32",
        tokens_per_microbatch=4096,
    )
    assert policies["editor"].version != before["editor"]
    assert policies["locator"].version == before["locator"]


def test_the_same_seed_gives_a_team_the_same_attempts(make_policy, tasks, sandbox):
    policy = make_policy()
    team = Team({agent: policy for agent in SHARED})
    first, again, other = (
        rollout_many(team, tasks[:2], sandbox, 2, seed, max_turns=4, lane_rows=3, sampler=SHORT)
        for seed in (3, 3, 4)
    )
    said = [[[t.action for t in tr.turns] for g in gs for tr in g.trajectories]
            for gs in (first, again, other)]  # fmt: skip
    assert said[0] == said[1] != said[2]


def test_shares_of_agents_reach_the_tokens(played):
    _, groups = played

    def shares(group, rewards):
        return {"locator": np.array([1.0, 0, 0]), "editor": np.array([0.0, 0, 3.0])}

    credit = [by_agent(group, [0.0] * 3, shares=shares, scale="none") for group in groups]
    looks = pack(groups, credit, learns=says("locator"))
    assert np.allclose(sorted(set(looks.advantages[looks.loss_mask].tolist())), [-1 / 3, 2 / 3])
    edits = pack(groups, credit, learns=says("editor"))
    assert set(edits.advantages[edits.loss_mask].tolist()) == {-1.0, 2.0}
