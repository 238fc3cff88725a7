"""The pretraining corpus: scripted episodes and single answers as token ids with loss weights.

Stage: pretraining. In: a seed and a number of documents. Out: `Document`s in the wire format.
Every composition in it belongs to the train split. Left out: text from anywhere else; the base
policy knows this small world and nothing more.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.policies.wire import message_ids
from workbench.pretraining.behaviours import WEIGHTS, find_bug, play
from workbench.records import Task
from workbench.tasks import execute
from workbench.tasks.bugfix import bugfix_task
from workbench.tasks.functions import functions_task
from workbench.tasks.mutators import mutations

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

FIRST_INDEX = 1_000_000
"""Corpus tasks are numbered from here, so that none of them is a task of the RL suites."""
SHARE_FUNCTIONS, SHARE_LONG = 0.20, 0.03
"""Share of single-turn documents and of long episodes; the rest is `bugfix` episodes."""
FUNCTION_SLIPS = 0.68
"""Share of the single-turn documents whose answer has one mutated line: the dial that sets the
base policy's solve rate on `functions`."""
WEIGHT_POLICY, WEIGHT_FILES = 1.0, 0.25
"""Loss weights of what the policy says, and of file listings (a cheap lesson in the language)."""

Message = tuple[str, str]
"""(role, text) in the wire format's roles."""


@dataclass(frozen=True)
class Document:
    """One training sequence."""

    ids: tuple[int, ...]
    """Token ids, from <|bos|>."""
    weights: tuple[float, ...]
    """Loss weight of predicting each id; 0 = context only."""


def conversations(seed: int, start: int, stop: int) -> Iterator[list[Message]]:
    """Documents number `start` to `stop` of the corpus, as messages."""
    for index in range(start, stop):
        rng = random.Random(f"corpus/{seed}/{index}")
        kind = rng.random()
        if kind < SHARE_FUNCTIONS:
            yield function_document(functions_task("train", FIRST_INDEX + index), rng)
        elif kind < SHARE_FUNCTIONS + SHARE_LONG:
            yield long_document(bugfix_task("train", FIRST_INDEX + index, num_files=4), rng)
        else:
            yield episode_document(bugfix_task("train", FIRST_INDEX + index // 2), rng)


def function_document(task: Task, rng: random.Random) -> list[Message]:
    """A statement and a body; two bodies in three have a slip."""
    body = task.reference[task.entry_file].splitlines()[1:]
    if rng.random() < FUNCTION_SLIPS:
        number = rng.randrange(len(body))
        body[number] = rng.choice([m.line for m in mutations(body[number])] or [body[number]])
    return [("task", task.statement), ("act", "\n".join(body))]


def episode_document(task: Task, rng: random.Random) -> list[Message]:
    """One scripted episode of a behaviour drawn by WEIGHTS."""
    (behaviour,) = rng.choices(list(WEIGHTS), weights=WEIGHTS.values())
    return [("task", task.statement), *_as_messages(play(task, behaviour, rng))]


def long_document(task: Task, rng: random.Random) -> list[Message]:
    """An episode of up to 16 turns over four files that also uses the reserved actions.

    `note`, `ask` and `eval` are words the policy knows only after a system message that offers
    them: later work builds tools behind them, and no `bugfix` episode mentions them.
    """
    bug = find_bug(task)
    messages: list[Message] = [("system", "tools ask note eval"), ("task", task.statement)]
    for path in rng.sample(sorted(task.files), rng.randint(1, 4)):
        messages += [("act", f"cat {path}"), ("obs", _listing(task.files[path]))]
        if rng.random() < 0.4:
            messages += [("act", f"note seen {path}"), ("obs", "noted")]
    for _ in range(rng.randint(0, 2)):
        args = rng.choice(task.visible + task.hidden[:2]).args
        value = execute.call(task.files[bug.path], task.entry_point, args)
        answer = type(value).__name__ if isinstance(value, Exception) else repr(value)
        question = f"eval {task.entry_point}({', '.join(map(repr, args))})"
        messages += [("act", question), ("obs", answer)]
    if rng.random() < 0.5:
        messages += [("act", f"ask where is {task.entry_point}"), ("obs", f"look in {bug.path}")]
    rest = play(task, rng.choice(("expert", "recover", "wrong_fix")), rng, max_turns=7)
    return [*messages, *_as_messages(rest)]


def _as_messages(episode: list[tuple[str, str]]) -> list[Message]:
    pairs = [(("act", message), ("obs", observation)) for message, observation in episode]
    return [m for pair in pairs for m in pair][: -1 if pairs else None]  # nothing follows the end


def _listing(text: str) -> str:
    return "\n".join(f"{n}|{line}" for n, line in enumerate(text.splitlines(), 1))


def encode(messages: list[Message], tokenizer: PreTrainedTokenizerFast) -> Document:
    """Messages as ids and loss weights, in exactly the wire format."""
    ids, weights = [tokenizer.bos_token_id], [0.0]
    previous = ""
    for role, text in messages:
        new = message_ids(tokenizer, role, text)
        weight = WEIGHT_POLICY if role == "act" else 0.0
        if role == "obs" and previous.startswith("cat "):
            weight = WEIGHT_FILES
        ids += new
        weights += [0.0, *[weight] * (len(new) - 1)]  # a role token is always given
        previous = text
    return Document(tuple(ids), tuple(weights))
