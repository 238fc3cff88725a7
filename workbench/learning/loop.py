"""The loop: a policy improves by its own attempts. Read from top to bottom.

Stage: learning. A policy and tasks go in; the policy's weights change, and every iteration is
logged with all it was made of. Group-relative policy gradient with a clipped ratio: GRPO's
advantages, DAPO's clip-higher, token mean and dropped ties.
Left out: refilling the batch after ties were dropped (dynamic sampling: here they are counted), a
KL term, sampling and updating at the same time. A critic comes in as evidence
(`process_rewards.Critic`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from workbench.counterfactuals import Cost
from workbench.credit import tied
from workbench.episodes import rollout_many
from workbench.evaluation import SOLVED
from workbench.grading.collectors import collect
from workbench.learning.batch import Batch, pack, split_minibatches
from workbench.learning.checkpoint import Place, derive_seed
from workbench.learning.config import RLConfig, TrainConfig
from workbench.learning.journal import Journal
from workbench.learning.optimiser import make_optimiser, set_learning_rate
from workbench.learning.rows import IterationRow, Stopwatch, rollout_stats
from workbench.learning.update import TokenLoss, update
from workbench.records import UNSCORABLE, Group, RewardBreakdown, Task
from workbench.rewards import RewardDesign, totals
from workbench.runlog import StoredIteration

if TYPE_CHECKING:
    from workbench.policies import CausalLMPolicy
    from workbench.sandbox import Sandbox


def improve_by_rl(
    policy: CausalLMPolicy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    reward: RewardDesign,
    config: TrainConfig,
    seed: int,
    journal: Journal,
) -> None:
    """Run RL iterations from where `journal` says the run is to `config.rl.iterations`.

    Raises StopRequested if the run is stopped, as `require_judged` if nothing could be judged; the
    policy is then as after the last whole iteration.
    """
    rl = config.rl
    evidence = rl.evidence.fresh() if hasattr(rl.evidence, "fresh") else rl.evidence
    optimiser = make_optimiser(policy.model, rl)
    journal.begin_stage("rl", optimiser)
    for iteration in range(journal.place.iteration, rl.iterations):
        if iteration > 0:  # iteration 0 was evaluated as the end of what came before
            journal.evaluate_if_due("rl", iteration)
        with journal.iteration():
            watch = Stopwatch()
            own_seed = partial(derive_seed, seed, "rl", iteration)

            # 1. Sample: G attempts at each of a few tasks, with the policy as it is now.
            version = policy.version
            chosen = tasks_of_iteration(tasks, rl.tasks_per_iteration, iteration, seed)
            with watch.sampling(sandbox):
                groups = rollout_many(
                    policy,
                    chosen,
                    sandbox,
                    n=rl.group_size,
                    seed=own_seed("sample"),
                    sampler=config.sampler,
                    max_turns=config.max_turns,
                    stop=journal.stop_requested,
                )
                groups = collect(groups, chosen, reward.collectors, sandbox)
                extra = Cost()
                if evidence is not None:
                    groups, extra = evidence(
                        *(policy, groups, chosen, sandbox),
                        seed=own_seed("evidence"),
                        reward=reward,
                        max_turns=config.max_turns,
                        stop=journal.stop_requested,
                    )

            # 2. Score: the tests have run, now the design says what the results are worth.
            breakdowns = reward.score_groups(groups, chosen)
            rewards = totals(breakdowns)  # (B, G); nan = could not be judged, left out
            require_judged(groups, breakdowns)

            # 3. Credit: each attempt against the others at its task, a number a turn.
            credit = credit_turns(groups, rewards, rl)  # B lists of G arrays (K,); nan = left out

            # 4. Pack: ids and logprobs as sampled, the mask made while they are placed.
            batch = pack(groups, credit)

            # 5. Update: a few steps on the same rollouts; the clip keeps them small.
            updates = []
            rng = np.random.default_rng(own_seed("minibatches"))
            lr = set_learning_rate(optimiser, rl, iteration / rl.iterations)
            with watch.updating():
                for minibatch in split_minibatches(batch, rl.updates_per_iteration, rng):
                    stats = update(
                        policy.model,
                        optimiser,
                        minibatch,
                        token_loss(rl),
                        rl.token_weights,
                        grad_clip=rl.grad_clip,
                        dtype=config.dtype,
                        tokens_per_microbatch=config.tokens_per_microbatch,
                        check_stop=journal.check_stop,
                        threads=config.update_threads,
                    )
                    updates.append(stats)

            # 6. Log: everything above can be made again from what is written here.
            solved = totals(SOLVED.score_groups(groups, chosen))
            rollouts = rollout_stats(groups, rewards, solved, num_tied=int(tied(rewards).sum()))
            row = IterationRow(
                stage="rl",
                iteration=iteration,
                num_iterations=rl.iterations,
                policy_version=version,
                rollouts=rollouts,
                extra=extra,
                seconds=watch.seconds(),
                updates=tuple(updates),
                lr=lr,
            )
            stored = StoredIteration(
                stage="rl",
                iteration=iteration,
                tasks=tuple(chosen),
                groups=tuple(groups),
                rewards=tuple(map(tuple, breakdowns)),
                advantages=tuple(tuple(map(as_logged, row)) for row in credit),
            )
            journal.completed(row.flat(), Place("rl", iteration + 1), stored)


def credit_turns(
    groups: Sequence[Group], rewards: np.ndarray, rl: RLConfig
) -> list[list[np.ndarray]]:
    """B lists of G arrays (K,): what the scheme says of each turn; nan = left out, and with
    tied_groups="drop" a group in which no turn has an advantage is: most often all attempts fared
    alike. Raises ValueError if the scheme returned something else, or gave no turn a number."""
    options = dict(scale=rl.advantage_scale, ddof=rl.advantage_ddof)
    credit = [
        numbers_of_turns(group, rl.credit(group, row, **options))
        for group, row in zip(groups, rewards)
    ]
    require_credit(credit)
    if rl.tied_groups == "drop":
        credit = [row if teaches(row) else [np.nan * c for c in row] for row in credit]
    return credit


def teaches(credit: Sequence[np.ndarray]) -> bool:
    """True if any turn of the group has an advantage that is neither zero nor nan."""
    return any(np.nan_to_num(numbers).any() for numbers in credit)


def as_logged(credit: np.ndarray) -> float | tuple[float, ...]:
    """One attempt's advantages for the log: a single number where all of its turns have it."""
    numbers = credit.tolist()
    alike = np.array_equal(credit, np.full_like(credit, numbers[0]), equal_nan=True)
    return numbers[0] if alike else tuple(numbers)


def require_judged(
    groups: Sequence[Group], breakdowns: Sequence[Sequence[RewardBreakdown]]
) -> None:
    """Raise if not one attempt could be judged: nothing can be learned from that. ValueError where
    a component said nothing of what ran well, RuntimeError where the fault is ours. One attempt
    among many is only left out and counted."""
    attempts = [t for group in groups for t in group.trajectories]
    scored = [breakdown for row in breakdowns for breakdown in row]
    if any(breakdown.total is not None for breakdown in scored):
        return
    ran = [t.verdict.status not in UNSCORABLE and t.stop_reason != "abort" for t in attempts]
    silent = Counter(
        part.name
        for breakdown, well in zip(scored, ran)
        for part in breakdown.parts
        if well and part.raw is None and not part.gated
    )
    none_of = f"expected rewards, got none: not one of {len(attempts)} attempts could be judged"
    if silent:
        name, count = silent.most_common(1)[0]
        raise ValueError(
            f"{none_of}. The component {name!r} returned None for {count} of the {sum(ran)} that "
            "ran to their end; does its function `return` a number? A mended one is another "
            "reward: train again in a new folder"
        )
    found = Counter(t.verdict.status for t in attempts).most_common(1)[0][0]
    raise RuntimeError(
        f"{none_of} (most verdicts: {found!r}, sandbox {attempts[0].verdict.sandbox!r}). The "
        "policy is as before this iteration; try sandbox.guarantees(), then "
        "train(..., folder=run.folder, resume=True)"
    )


def numbers_of_turns(group: Group, said: Sequence[Sequence[float]]) -> list[np.ndarray]:
    """What a scheme returned, as G arrays (K,). Raises ValueError if it is not a number a turn, or
    one is infinite."""
    expected = [(len(t.turns),) for t in group.trajectories]
    shapes = [np.shape(numbers) for numbers in said] if np.iterable(said) else None
    if shapes != expected:
        raise ValueError(
            f"credit: expected an array for each attempt, a number a turn, shapes {expected}, got "
            f"{said!r:.80}; return [np.full(len(t.turns), a) ...] where all turns of t have a"
        )
    credit = [np.asarray(numbers, dtype=float) for numbers in said]
    for i, numbers in enumerate(credit):
        if np.isinf(numbers).any():
            raise ValueError(
                f"credit: expected finite numbers, nan for a turn that is left out, got "
                f"{numbers.tolist()!s:.80} for attempt {i} of task {group.task_id!r}; what does "
                "the scheme divide by?"
            )
    return credit


def require_credit(credit: Sequence[Sequence[np.ndarray]]) -> None:
    """Raise ValueError if a scheme gave no turn a number although attempts were judged: what it
    reads was not found out about these groups, and every update would be empty."""
    if all(np.isnan(numbers).all() for row in credit for numbers in row):
        raise ValueError(
            "credit: expected numbers, got nan for every turn of every attempt; give the scheme "
            "what it needs, such as RLConfig(evidence=Rerolls(4), credit=reroll_advantage), "
            "whose values stand before each turn"
        )


def token_loss(rl: RLConfig) -> TokenLoss:
    """(logprobs, batch) -> (B, T) losses: the configured loss with its clip range filled in."""

    def losses(logprobs: Tensor, batch: Batch) -> Tensor:
        return rl.loss(
            logprobs,
            batch.old_logprobs,
            batch.advantages,
            batch.loss_mask,
            clip_low=rl.clip_low,
            clip_high=rl.clip_high,
        )

    return losses


def tasks_of_iteration(
    tasks: Sequence[Task], per_iteration: int, iteration: int, seed: int
) -> list[Task]:
    """The tasks of one iteration: pass after pass over all of them, each pass in a new order.

    A function of its arguments alone, so a resumed run meets the same tasks.
    """
    chosen = []
    for place in range(iteration * per_iteration, (iteration + 1) * per_iteration):
        whole_pass, index = divmod(place, len(tasks))
        order = np.random.default_rng(derive_seed(seed, "tasks", whole_pass))
        chosen.append(tasks[order.permutation(len(tasks))[index]])
    return chosen
