"""TRL's own GRPOTrainer on the same policy, tasks, environment and reward."""

import pytest
import torch
from trl import GRPOTrainer
from trl.chat_template_utils import parse_response

from tests.adapters.conftest import BUGFIX, HONEST
from workbench.adapters import as_dataset, environment_factory
from workbench.environments import parse_command
from workbench.episodes import rollout_many
from workbench.policies import open_policy
from workbench.policies.opening import SHIPPED
from workbench.policies.wire import prompt_ids
from workbench.tasks import load_tasks

NO_POLICY = not (SHIPPED / "tiny").is_dir()


class Watched(GRPOTrainer):
    """GRPOTrainer that keeps what it generated and the environments it played in."""

    def _generate(self, prompts):
        result = super()._generate(prompts)
        self.generated = list(zip(*result[:3], self.environments, strict=True))
        return result


@pytest.fixture(scope="module")
def trained(folder, sandbox, grpo_config):
    """(trainer after one update, weights before it)."""

    def even_share(completion_ids, **_):
        """Differs between any two rollouts, so that no group is tied."""
        return [sum(i % 2 == 0 for i in ids) / len(ids) for ids in completion_ids]

    trainer = Watched(
        model=folder,
        args=grpo_config(max_completion_length=384, max_tool_calling_iterations=8),
        train_dataset=as_dataset(BUGFIX, conversational=True),
        reward_funcs=even_share,
        environment_factory=environment_factory(BUGFIX, sandbox, HONEST),
    )
    before = {name: p.detach().clone() for name, p in trainer.model.named_parameters()}
    trainer.train()
    return trainer, before


def segments(ids, mask):
    """[(mask, ids)] of each run of equal mask."""
    runs = []
    for i, m in zip(ids, mask, strict=True):
        if not runs or runs[-1][0] != m:
            runs.append((m, []))
        runs[-1][1].append(i)
    return runs


@pytest.mark.slow
def test_one_update_changes_the_weights_and_rewards_come_from_the_environment(trained):
    trainer, before = trained
    log = next(entry for entry in trainer.state.log_history if "grad_norm" in entry)
    assert log["grad_norm"] > 0
    assert -1.0 <= log["rewards/RewardedEnvironment/mean"] <= 1.0
    assert any(not torch.equal(p, before[n]) for n, p in trainer.model.named_parameters())


@pytest.mark.slow
def test_trl_feeds_and_masks_exactly_the_wire_ids(trained):
    trainer, _ = trained
    tokenizer = trainer.processing_class
    for prompt, completion, mask, environment in trainer.generated:
        statement = environment.attempt.statement
        assert prompt == prompt_ids(tokenizer, "task", statement, first=True)
        told = [ids for m, ids in segments(completion, mask) if m == 0]
        heard = [turn.observation for turn in environment.attempt.turns][: len(told)]
        assert told == [prompt_ids(tokenizer, "obs", text) for text in heard]


@pytest.mark.slow
def test_a_rollout_ends_with_the_command_that_ends_the_episode(trained):
    trainer, _ = trained
    tokenizer = trainer.processing_class
    for _, completion, mask, environment in trainer.generated:
        said = [tokenizer.decode(ids) for m, ids in segments(completion, mask) if m == 1]
        texts = [turn.action.text + tokenizer.eos_token for turn in environment.attempt.turns]
        assert said[: len(texts)] == texts
        if environment.attempt.environment.stop_reason in ("submitted", "max_turns"):
            assert len(said) == len(texts)


@pytest.mark.slow
@pytest.mark.skipif(NO_POLICY, reason="no data/policies/tiny; `python3 -m workbench pretrain`")
def test_what_an_environment_says_of_its_turns_suits_the_tasks(sandbox):
    assert environment_factory([BUGFIX[0]], sandbox)().max_turns == 8
    repositories = environment_factory(load_tasks("repos"), sandbox)()
    repositories.reset("repos/spans")
    assert repositories.max_turns == repositories.attempt.environment.max_turns == 40


def test_well_formed_commands_of_the_shipped_policy_parse_as_tool_calls(sandbox):
    policy = open_policy("tiny")
    tokenizer = policy.tokenizer
    groups = rollout_many(policy, load_tasks("bugfix", split="dev", count=16), sandbox, n=2)
    total = right = 0
    for turn in (turn for g in groups for t in g.trajectories for turn in t.turns):
        call, _ = parse_command(turn.action.text)
        if call is None or turn.action.finish != "end_of_turn":
            continue
        total += 1
        parsed = parse_response(tokenizer, list(turn.action.ids), prefix=list(turn.action.new_ids))
        function = {"name": call.name, "arguments": {"argument": call.argument}}
        right += parsed.get("tool_calls") == [{"type": "function", "function": function}]
    assert total > 50
    assert right / total >= 0.9
