"""One turn through TRL, sampled by TRL (or its vLLM): our reward, and what the run log needs.

Stage: scoring, through TRL. Completions come in as TRL sampled them; rewards go back, and the
graded attempts stay here for `RunLogCallback`. The advantages are TRL's own, computed from the
same rewards; those that are logged are ours, which are equal (tests/trl_bridge/test_conformance).
Left out: logprobs and prompt ids, which TRL keeps to itself: such a batch cannot be packed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.adapters import as_dataset, as_reward
from workbench.credit import broadcast
from workbench.evaluation import Evaluation, evaluate
from workbench.learning import HONEST, RLConfig
from workbench.learning.rows import Stopwatch
from workbench.policies import CausalLMPolicy, answer_format
from workbench.records import Group, SamplerSettings, Task
from workbench.records.arguments import expect_sandbox
from workbench.rewards import RewardDesign
from workbench.rewards.design import expect_design
from workbench.trl_bridge.rolled import Rolled, credited, tasks_by_id

if TYPE_CHECKING:
    import datasets
    from torch import nn
    from transformers import PreTrainedTokenizerBase, TrainerState
    from trl import GRPOConfig

    from workbench.sandbox import Sandbox


class SingleTurn:
    """A data set and a reward for `trl.GRPOTrainer` on tasks of one turn.

    >>> answers = SingleTurn(tasks, sandbox, design, rl)                    # doctest: +SKIP
    >>> GRPOTrainer(model=folder, args=grpo_config("runs/trl", rl),         # doctest: +SKIP
    ...     train_dataset=answers.dataset(), reward_funcs=answers.reward,
    ...     callbacks=[RunLogCallback("runs/trl/log", answers)]).train()
    """

    max_turns = 1
    """Of every attempt."""

    def __init__(
        self,
        tasks: Sequence[Task],
        sandbox: Sandbox,
        design: RewardDesign = HONEST,
        rl: RLConfig = RLConfig(),
        *,
        sampler: SamplerSettings = SamplerSettings(),
        prompt: Callable[[Task], str] | None = None,
    ):
        """Nothing is scored yet.

        Args:
            design: what an answer is paid.
            rl: the settings that `grpo_config` got as well; they go to the log.
            sampler: for the log's evaluations; TRL samples as `GRPOConfig` says.
            prompt: what the policy is told of a task, as the one message of a user; None = its
                statement.
        Raises:
            ValueError: if a task has a workspace, if two tasks have one id, if the credit or the
                ties are not TRL's, or if sandbox or design is something else.
        """
        expect_sandbox(sandbox)
        expect_design("design", design)
        if several := [task.task_id for task in tasks if task.files]:
            raise ValueError(
                f"tasks: expected tasks of one turn, got {several[0]!r}; use MultiTurn"
            )
        if rl.credit is not broadcast or rl.evidence is not None or rl.tied_groups == "drop":
            raise ValueError(
                'rl: expected credit=broadcast, no evidence and tied_groups="keep", which is what '
                "TRL does with its own completions; start from GRPO, DAPO or DR_GRPO, or use "
                "MultiTurn"
            )
        self.tasks = tasks_by_id(tasks)
        self.sandbox, self.design, self.rl, self.sampler = sandbox, design, rl, sampler
        self._prompt = prompt or (lambda task: task.statement)
        self._score = as_reward(design, tasks, sandbox)
        self._scored: tuple[Sequence[str], int, Stopwatch] | None = None

    @property
    def last(self) -> Rolled | None:
        """The batch that was scored last, be it of an evaluation of TRL's; None before the first.

        Raises ValueError if its groups are not of `rl.group_size`.
        """
        return self._rolled(*self._scored) if self._scored else None

    def dataset(self) -> datasets.Dataset:
        """A row a task: one message of the user, and the task's id."""
        return as_dataset(self.tasks.values(), conversational=True, prompt=self._prompt)

    def evaluate(
        self,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        tasks: Sequence[Task],
        args: GRPOConfig | None = None,
        **options: Any,
    ) -> Evaluation:
        """The model on other tasks, told what TRL tells it in training: the one message in the
        model's chat template, no system text and no tools of ours.

        Args:
            args: the trainer's, for their `chat_template_kwargs`; None = there are none.
            options: `seed`, `greedy` and the like of `workbench.evaluate`.
        """
        template = args.chat_template_kwargs if args else None
        policy = CausalLMPolicy(model, tokenizer, answer_format(tokenizer, template))
        told = [replace(task, statement=self._prompt(task)) for task in tasks]
        return evaluate(policy, told, self.sandbox, sampler=self.sampler, **options)

    def reward(
        self, *, task_id: Sequence[str], trainer_state: TrainerState, **call: Any
    ) -> list[float | None]:
        """TRL's reward function: a number a completion, or None for what could not be judged."""
        watch = Stopwatch()
        with watch.sampling(self.sandbox):
            paid = self._score(task_id=task_id, trainer_state=trainer_state, **call)
        self._scored = task_id, trainer_state.global_step, watch
        return paid

    def _rolled(self, task_id: Sequence[str], step: int, watch: Stopwatch) -> Rolled:
        """The attempts that were scored last, in groups of equal tasks."""
        attempts, size = [j.trajectory for j in self._score.judged], self.rl.group_size
        if list(task_id) != [name for name in task_id[::size] for _ in range(size)]:
            raise ValueError(
                f"task_id: expected groups of {size} equal ones, one after the other; give the "
                "trainer grpo_config(..., rl) with the rl that was given here"
            )
        groups = [
            Group(task_id[i], f"step-{step}", tuple(attempts[i : i + size]))
            for i in range(0, len(attempts), size)
        ]
        tasks = [self.tasks[group.task_id] for group in groups]
        rewards, credit = credited(groups, tasks, self.design, self.rl)
        return Rolled(step, f"step-{step}", tuple(tasks), tuple(groups), rewards, credit, watch)
