"""Checks of settings: what can be known before the first update.

Stage: beside the loop. Cases go in, sentences come out. Left out: what only training shows
(`during_training`), and what the weights show (`weights`).
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import sys
import textwrap
from collections.abc import Iterable
from typing import Any

from workbench.diagnostics.cases import RunCase, TrainerCase
from workbench.diagnostics.checklist import CannotTell, check
from workbench.diagnostics.thresholds import LORA_LR, NUM_ROWS_COMPARED, TOKENS_PER_TURN


@check(
    "string-prompt",
    "error",
    "trainer",
    why="TRL applies the chat template to lists of messages only. A string reaches the model as it "
    "is: a chat model then continues text it has never seen, and nothing raises.",
    change='Make the prompts messages, [{"role": "user", "content": ...}] '
    "(as_dataset(tasks, conversational=True)), or render the template into the strings.",
)
def string_prompt(case: TrainerCase) -> str | None:
    """A model with a chat template is given prompts as plain strings."""
    if case.trainer.rollout_func is not None:
        raise CannotTell("the rollout function renders its prompts itself")
    row = next(iter(case.trainer.train_dataset), {})
    prompt = row.get("prompt")
    if not isinstance(prompt, str) or not getattr(case.tokenizer, "chat_template", None):
        return None
    dummy = [{"role": "user", "content": "x"}]
    rendered = case.tokenizer.apply_chat_template(dummy, tokenize=False, add_generation_prompt=True)
    markers = [t for t in case.tokenizer.get_added_vocab() if t in rendered]
    if any(marker in prompt for marker in markers):
        return None  # rendered already
    return f"the first prompt is the string {prompt[:60]!r}; none of {markers[:4]} occurs in it"


@check(
    "pad-is-eos",
    "warning",
    "trainer",
    why="Code that finds the padding by token id takes the end of a turn for padding: the model is "
    "never taught to stop, or padding is attended to. TRL 1.16's own masks go by position and "
    "survive it; collators, callbacks and other trainers often do not.",
    change="Give the tokenizer a pad token of its own, one that the model has an embedding for "
    "(tokenizer.pad_token = ...), before making the trainer.",
)
def pad_is_eos(case: TrainerCase) -> str | None:
    """The pad token is the end-of-turn token."""
    pad = case.tokenizer.pad_token_id
    if pad not in case.trainer.eos_token_ids:
        return None
    return f"pad token {case.tokenizer.pad_token!r} (id {pad}) also ends a completion"


@check(
    "decoding-filters",
    "error",
    "trainer",
    why="Log-probabilities are computed over the whole vocabulary, while the samples come from a "
    "filtered or reweighted one: the ratio is biased, and what the filter forbids is never tried.",
    change="Train with top_p=1, top_k=0, min_p=None, repetition_penalty=1, and clear what the "
    "model's own generation_config adds (model.generation_config = GenerationConfig()).",
)
def decoding_filters(case: TrainerCase) -> str | None:
    """Sampling in training is filtered, by the settings or by the model's generation_config."""
    neutral = {
        "top_p": (None, 1.0),
        "top_k": (None, 0, -1),
        "min_p": (None, 0.0),
        "typical_p": (None, 1.0),
        "epsilon_cutoff": (None, 0.0),
        "eta_cutoff": (None, 0.0),
        "repetition_penalty": (None, 1.0),
        "no_repeat_ngram_size": (None, 0),
        "do_sample": (None, True),
        "num_beams": (None, 1),
        "bad_words_ids": (None,),
    }
    asked = {name: getattr(case.args, name, None) for name in neutral}
    asked |= dict(case.args.generation_kwargs or {})
    found = {n: v for n, v in asked.items() if n in neutral and v not in neutral[n]}
    said = [f"{n}={v} in the trainer's settings" for n, v in found.items()]
    if not case.args.use_vllm:
        used = _as_generate_merges(case)
        said += [
            f"{n}={getattr(used, n)} from the model's generation_config"
            for n, allowed in neutral.items()
            if n not in found and getattr(used, n, None) not in allowed
        ]
    return "; ".join(said) or None


def _as_generate_merges(case: TrainerCase) -> Any:
    """The settings `generate` samples with: what the trainer leaves at None, the model fills in."""
    model = case.model.get_base_model() if case.lora else case.model
    merged, _ = model._prepare_generation_config(case.trainer.generation_config)
    return merged


@check(
    "completion-budget",
    "warning",
    "trainer run",
    why="The budget counts every token after the prompt, observations too. When it is gone the "
    "episode ends in the middle, unsolved, however good the policy is.",
    change="Raise max_completion_length (ours: sampler.max_context), or allow fewer turns.",
)
def completion_budget(case: TrainerCase | RunCase) -> str | None:
    """The token budget is too short for the environment's turns, or longer than the model."""
    if isinstance(case, RunCase):
        sampler, turns = case.settings["sampler"], case.settings["max_turns"]
        budget, name = sampler["max_context"], "max_context"
    elif case.episodes is not None:
        turns = case.episodes.max_turns
        budget, name = case.episodes.sampler.max_context, "max_context"
    else:
        turns, budget, name = _turns(case), case.args.max_completion_length, "max_completion_length"
        positions = getattr(case.model.config, "max_position_embeddings", None)
        if positions and budget >= positions:
            return f"{name} {budget} leaves no room for a prompt: the model has {positions}"
    if turns == 1 or turns * TOKENS_PER_TURN <= budget:
        return None  # how long one answer is, the tasks decide
    return (
        f"{turns} turns of at least {TOKENS_PER_TURN} tokens need {turns * TOKENS_PER_TURN}, "
        f"{name} is {budget}"
    )


def _turns(case: TrainerCase) -> int:
    """Turns that an episode may have."""
    trainer = case.trainer
    if not trainer.tools:
        return 1
    pools = trainer._environment_pool.values() if trainer.environment_factories else ()
    limits = [getattr(env, "max_turns", None) for pool in pools for env in pool[:1]]
    if trainer.max_tool_calling_iterations < sys.maxsize:
        limits.append(trainer.max_tool_calling_iterations)
    if not any(limits):
        raise CannotTell(
            "the environment has no `max_turns` and max_tool_calling_iterations is not set"
        )
    return min(limit for limit in limits if limit)


@check(
    "group-size",
    "error",
    "trainer run",
    why="An attempt is compared with the others of its group. A group of one has advantage 0; "
    "groups that are cut between batches are compared with another task's attempts.",
    change="num_generations of at least 2 (8 is usual), dividing generation_batch_size.",
)
def group_size(case: TrainerCase | RunCase) -> str | None:
    """Groups of one, or groups that do not divide the batch."""
    if isinstance(case, RunCase):
        size = case.settings["rl"]["group_size"]
        return None if size >= 2 else f"group_size is {size}"
    size, batch = case.trainer.num_generations, case.args.generation_batch_size
    if size >= 2 and batch % size == 0:
        return None
    return f"num_generations is {size}, a generation batch holds {batch} completions"


@check(
    "learning-rate",
    "warning",
    "trainer run",
    why="At 0 nothing is learned. LoRA wants about ten times the rate of full fine-tuning; at "
    "TRL's default of 1e-6, made for all weights of a large model, the curve stays flat for "
    "hundreds of updates.",
    change="Start LoRA at 1e-5 to 1e-4 for models of 1 B parameters and more, 1e-3 for tiny ones.",
)
def learning_rate(case: TrainerCase | RunCase) -> str | None:
    """A learning rate of 0, or LoRA at one made for full fine-tuning."""
    rl = isinstance(case, RunCase)
    rate = case.settings["rl"]["lr"] if rl else case.args.learning_rate
    if rate == 0:
        return "learning rate 0"
    if not case.lora or rate is None or rate >= LORA_LR:
        return None
    return f"learning rate {rate:g} with LoRA; expected {LORA_LR:g} or more"


@check(
    "eval-leak",
    "error",
    "trainer run",
    why="The rate on tasks that were practised on says nothing about new ones, and it rises most "
    "where the policy memorises.",
    change="Evaluate on another split: load_tasks(suite, split='dev').",
)
def eval_leak(case: TrainerCase | RunCase) -> str | None:
    """Tasks of the evaluation are trained on."""
    if isinstance(case, RunCase):
        shared, num = case.described("practised_dev"), case.described("dev")["num"]
    else:
        shared, num = _shared_with_training(case)
    if not shared:
        return None
    return f"{len(shared)} of {num} evaluation tasks are trained on, such as {min(shared)[:60]!r}"


def _shared_with_training(case: TrainerCase) -> tuple[set[str], int]:
    """(what is evaluated and trained on, how much is evaluated): TRL's data set and the log's."""
    shared, held_out = set(), set()
    if (sets := case.trainer.eval_dataset) is not None:
        parts = sets.values() if isinstance(sets, dict) else [sets]
        held_out = set().union(*map(_identities, parts))
        shared = _identities(case.trainer.train_dataset) & held_out
    if log := case.watching("RunLogCallback"):
        from workbench.learning.provenance import practised_dev

        shared |= set(practised_dev(list(log.episodes.tasks.values()), log.dev))
        held_out |= {task.task_id for task in log.dev}
    return shared, len(held_out)


def _identities(rows: Iterable[dict]) -> set[str]:
    """What makes two rows the same: the task id, else the prompt."""
    some = itertools.islice(iter(rows), NUM_ROWS_COMPARED)
    return {str(row.get("task_id") or json.dumps(row.get("prompt"))) for row in some}


@check(
    "temperature",
    "error",
    "run",
    why="Our update compares the policy with itself at temperature 1; samples drawn at another "
    "temperature come from another distribution, and every ratio is wrong.",
    change="sampler.temperature=1.0 in training; lower it only in evaluation.",
)
def run_temperature(case: RunCase) -> str | None:
    """Samples were drawn at another temperature than the update assumes."""
    temperature = case.settings["sampler"]["temperature"]
    if case.described("recipe") == "trl":
        return None  # TRL divides by it on both sides
    return None if temperature == 1.0 else f"sampler.temperature is {temperature}"


@check(
    "swallowed-exceptions",
    "warning",
    "trainer",
    why="A reward that answers a crash with a number teaches from our fault as if it were the "
    "policy's: a full disk looks like 128 wrong answers.",
    change="Let it raise, or return None for what cannot be judged: TRL then leaves it out.",
)
def swallowed_exceptions(case: TrainerCase) -> str | None:
    """A reward function catches every exception and goes on with a number."""
    found = []
    for name, function in zip(case.trainer.reward_func_names, case.trainer.reward_funcs):
        for line in _swallowing_lines(function):
            found.append(f"{name}, line {line} of its source")
    return f"`except` that returns a number: {'; '.join(found)}" if found else None


def _swallowing_lines(function: Any) -> list[int]:
    """Lines of handlers that catch everything and give back a number."""
    plain = inspect.unwrap(getattr(function, "func", function))
    if not inspect.isroutine(plain):
        plain = type(plain).__call__
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
    except (OSError, TypeError, SyntaxError):  # no source, or a lambda within a longer line
        return []
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    return [h.lineno for h in handlers if _catches_all(h) and _gives_a_number(h)]


def _catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or ast.unparse(handler.type) in ("Exception", "BaseException")


def _gives_a_number(handler: ast.ExceptHandler) -> bool:
    """Whether the handler holds a number and does not raise."""
    nodes = [node for statement in handler.body for node in ast.walk(statement)]
    numbers = (n for n in nodes if isinstance(n, ast.Constant) and type(n.value) in (int, float))
    return any(numbers) and not any(isinstance(node, ast.Raise) for node in nodes)
