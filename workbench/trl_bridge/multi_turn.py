"""Several turns through TRL: our episodes as its `rollout_func`, scored and credited by us.

Stage: sampling and scoring, through TRL. TRL says which tasks are next; a group of attempts at
each is rolled out by our own sampler, with sandboxes in parallel; token ids, mask and logprobs go
to TRL as they were sampled, with the reward and the advantage of each turn beside them.
Left out: groups that are spread over several processes; weights that only vLLM holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.adapters import as_dataset
from workbench.counterfactuals import Cost
from workbench.credit import broadcast
from workbench.environments import default_turns
from workbench.episodes import rollout_many
from workbench.evaluation import Evaluation, evaluate
from workbench.grading.collectors import check_collectors, collect
from workbench.learning import HONEST, RLConfig
from workbench.learning.checkpoint import derive_seed
from workbench.learning.rows import Stopwatch
from workbench.policies import CausalLMPolicy, Policy
from workbench.records import Group, SamplerSettings, Task
from workbench.records.arguments import expect_sandbox
from workbench.rewards import RewardDesign
from workbench.rewards.design import expect_design
from workbench.trl_bridge.rolled import Rolled, credited, cut_left_out, tasks_by_id
from workbench.trl_bridge.sequences import as_rollout, sequences_of
from workbench.trl_bridge.turn_trainer import TurnGRPOTrainer

if TYPE_CHECKING:
    import datasets
    from torch import nn
    from transformers import PreTrainedTokenizerBase
    from trl import GRPOConfig, GRPOTrainer

    from workbench.sandbox import Sandbox

REWARD, CUT = "reward", "cut"
"""Columns of `rollout`'s answer: what `MultiTurn.reward` hands to TRL, and whether the attempt ran
out of tokens. TRL's own `completions/clipped_ratio` takes an attempt for whole that found no room
for its last message, and for cut where a message ends with another token than a text."""


def trained_policy(trainer: GRPOTrainer) -> CausalLMPolicy:
    """The model a trainer has now, as a policy of ours: same weights, no copy, dropout off.

    Raises ValueError, when made or opened, for a model our sampler does not know.
    """
    model = trainer.accelerator.unwrap_model(trainer.model)
    return CausalLMPolicy(model, trainer.processing_class)


class MultiTurn:
    """Episodes for a `TurnGRPOTrainer`: its data set, its rollouts and its rewards.

    >>> episodes = MultiTurn(tasks, sandbox, design, rl)                    # doctest: +SKIP
    >>> TurnGRPOTrainer(model=folder, args=grpo_config("runs/trl", rl),     # doctest: +SKIP
    ...     train_dataset=episodes.dataset(), rollout_func=episodes.rollout,
    ...     reward_funcs=episodes.reward, peft_config=LoraConfig(...)).train()
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        sandbox: Sandbox,
        design: RewardDesign = HONEST,
        rl: RLConfig = RLConfig(),
        *,
        sampler: SamplerSettings = SamplerSettings(),
        max_turns: int | None = None,
        policy: Callable[[nn.Module, PreTrainedTokenizerBase], Policy] = CausalLMPolicy,
    ):
        """Nothing is rolled out yet.

        Args:
            tasks: of one turn or of several.
            design: what an attempt is paid.
            rl: of it, `credit`, `evidence`, `advantage_scale`, `advantage_ddof` and `tied_groups`
                are used here; give the rest to the trainer with `grpo_config`.
            max_turns: of an attempt; None = as many as suit the tasks.
            policy: from the trainer's model and tokenizer to whatever samples, in training and in
                the log's evaluations; the default samples the model, spoken to as its tokenizer
                says. Otherwise: `functools.partial(CausalLMPolicy, chat=chat_format(...))`.
        Raises:
            ValueError: if two tasks have one id, the temperature is not 1, sandbox or design is
                something else, or the design reads what cannot be collected of a task.
        """
        expect_sandbox(sandbox)
        expect_design("design", design)
        if sampler.temperature != 1.0:
            raise ValueError(
                f"sampler.temperature: training needs 1.0, got {sampler.temperature}; the ratio "
                "compares the policy with itself only at temperature 1"
            )
        self.tasks = tasks_by_id(tasks)
        check_collectors(design.collectors, sandbox, tasks)
        self.sandbox, self.design, self.rl = sandbox, design, rl
        self.sampler, self._policy = sampler, policy
        self.max_turns = default_turns(*tasks) if max_turns is None else max_turns
        fresh = getattr(rl.evidence, "fresh", None)  # of one that remembers, one of our own
        self._remembers = fresh is not None
        self._evidence = fresh() if fresh else rl.evidence
        self.last: Rolled | None = None

    def dataset(self) -> datasets.Dataset:
        """A row a task. `prompt` is the task's id: what the policy is told is the environment's
        first observation, encoded once, by our sampler."""
        return as_dataset(self.tasks.values(), prompt=lambda task: task.task_id)

    def rollout(self, prompts: Sequence[str], trainer: GRPOTrainer) -> dict[str, list[Any]]:
        """TRL's `rollout_func`: a completion for each prompt, G in a row for one task.

        While TRL evaluates, no evidence is asked for, which might learn from what it sees, and the
        advantages of its loss are `broadcast`'s. With `mask_truncated_completions` an attempt that
        ran out of tokens is paid, compared, and not learned from.

        Raises ValueError if the prompts are not those of `dataset`, if a group is not whole, if
        the trainer ignores per-turn advantages or scores at another temperature than 1, if a run
        is resumed whose evidence remembers; RuntimeError if nothing could be judged.
        """
        if not isinstance(trainer, TurnGRPOTrainer):
            raise ValueError(
                f"trainer: expected a TurnGRPOTrainer, got {type(trainer).__name__}, which would "
                "ignore the advantages of turns without a word"
            )
        if trainer.args.temperature != 1.0:
            raise ValueError(
                f"temperature: expected 1.0, at which the attempts are sampled, got "
                f"{trainer.args.temperature}, at which TRL would score them"
            )
        training = trainer.model.training
        size = trainer.num_generations if training else trainer.num_generations_eval
        tasks = self._tasks_of(prompts, size)
        watch, step = Stopwatch(), trainer.state.global_step
        if training and self._remembers and self.last is None and step > 0:
            raise ValueError(
                f"resume: expected a run that its checkpoints hold whole, got {self._evidence}, "
                "which learns on the side; start again in another folder"
            )
        with watch.sampling(self.sandbox), mode_kept(trainer.model):
            model = trainer.accelerator.unwrap_model(trainer.model)
            policy = self._policy(model, trainer.processing_class)
            version = policy.version
            groups, extra = self._sample(policy, tasks, size, trainer, training)
        rl = self.rl if training else replace(self.rl, credit=broadcast)
        rewards, credit = credited(groups, tasks, self.design, rl)
        if trainer.args.mask_truncated_completions:
            credit = cut_left_out(groups, credit)
            trainer.mask_truncated_completions = False  # TRL looks at the last id only, see CUT
        rolled = Rolled(step, version, tuple(tasks), tuple(groups), rewards, credit, watch, extra)
        if training:
            self.last = rolled
        sequences = [s for g, row in zip(groups, credit) for s in sequences_of(g, row)]
        paid = [None if np.isnan(r) else float(r) for r in rolled.totals.ravel()]
        cut = [t.ran_out_of_tokens for group in groups for t in group.trajectories]
        return as_rollout(sequences) | {REWARD: paid, CUT: cut}

    def reward(
        self,
        *,
        log_metric: Callable[[str, float], None],
        reward: Sequence[float | None] | None = None,
        cut: Sequence[bool] = (),
        **columns: Any,
    ) -> list[float | None]:
        """TRL's reward function: what the design paid in `rollout`; None = could not be judged.

        Logged: how many could not be judged as `unscorable`, how many ran out of tokens as `cut`.
        Raises ValueError if TRL has sampled by itself.
        """
        if reward is None:
            raise ValueError(
                "rollout_func: expected the trainer to have played these episodes with it, got "
                "completions of TRL's own; pass rollout_func=episodes.rollout"
            )
        log_metric("unscorable", float(sum(paid is None for paid in reward)))
        log_metric("cut", float(sum(cut)))
        return list(reward)

    def evaluate(
        self,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        tasks: Sequence[Task],
        args: GRPOConfig | None = None,
        **options: Any,
    ) -> Evaluation:
        """The model on other tasks, told what it is told in training, with as many turns.

        Args:
            args: not read; of `SingleTurn.evaluate` it is.
            options: `seed`, `greedy` and the like of `workbench.evaluate`.
        """
        options |= dict(sampler=self.sampler, max_turns=self.max_turns)
        return evaluate(self._policy(model, tokenizer), tasks, self.sandbox, **options)

    def _sample(
        self, policy: Policy, tasks: list[Task], size: int, trainer: TurnGRPOTrainer, training: bool
    ) -> tuple[list[Group], Cost]:
        """Rollouts, and what is found out about them."""

        def seed(purpose: str) -> int:  # a resumed run samples what it would have sampled
            place = trainer.state.global_step, trainer.accelerator.process_index
            return derive_seed(trainer.args.seed, "trl", purpose, *place) + trainer.num_generated

        groups = rollout_many(
            *(policy, tasks, self.sandbox, size),
            seed=seed("sample" if training else "evaluate"),
            sampler=self.sampler,
            max_turns=self.max_turns,
        )
        groups = collect(groups, tasks, self.design.collectors, self.sandbox)
        if self._evidence is None or not training:
            return groups, Cost()
        return self._evidence(
            *(policy, groups, tasks, self.sandbox),
            seed=seed("evidence"),
            reward=self.design,
            max_turns=self.max_turns,
            stop=lambda: False,
        )

    def _tasks_of(self, prompts: Sequence[str], size: int) -> list[Task]:
        """One task a group of `size` equal prompts."""
        named = list(prompts[::size])
        if list(prompts) != [prompt for prompt in named for _ in range(size)]:
            raise ValueError(
                f"prompts: expected groups of {size} equal ones, one after the other; got "
                f"{len(prompts)} of which {len(set(prompts))} differ. Let per_device_train_batch_"
                "size x steps_per_generation be a multiple of num_generations on every process"
            )
        if unknown := [prompt for prompt in named if prompt not in self.tasks]:
            raise ValueError(
                f"prompts: expected ids of the {len(self.tasks)} tasks given, got {unknown[0]!r}; "
                "use train_dataset=episodes.dataset()"
            )
        return [self.tasks[prompt] for prompt in named]


@contextmanager
def mode_kept(model: nn.Module) -> Iterator[None]:
    """Inside the block somebody may switch the model to evaluation, as every policy of ours does;
    afterwards it is as before. TRL asks the model itself whether it is being trained: left in
    evaluation, it would scale the loss for it."""
    training = model.training
    try:
        yield
    finally:
        model.train(training)
