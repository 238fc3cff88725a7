"""A base that is hardly ever right: the policy, taught to stumble in single-turn answers.

Stage: beside the loop. In: a base policy; out: its weights after fine-tuning on answers of the
suite `functions` that are mostly wrong, in the ways a weak model is: not Python, a name that is
not defined, several slips at once. Its skill is a dial, as every base's is: it exists to show what
a reward does where a right answer is rare.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from workbench.policies import CausalLMPolicy
from workbench.pretraining.corpus import FIRST_INDEX, Document, encode
from workbench.reproduce.fine_tuning import SFTConfig, fine_tune
from workbench.tasks.functions import functions_task
from workbench.tasks.mutators import mutations

WEAKEN = SFTConfig(num_updates=120, batch_size=32, lr=5e-4)
"""How long it is taught."""
SHARE_RIGHT, SHARE_NOT_PYTHON, SHARE_SLIPS = 0.02, 0.55, 0.43
"""Shares of right answers, of answers that do not compile, and of answers with slips."""
OFFSET = 500_000
"""Its tasks are numbered from FIRST_INDEX + OFFSET: none of the corpus, none of the suite's."""


def weaken(policy: CausalLMPolicy, config: SFTConfig = WEAKEN) -> list[float]:
    """Fine-tune the policy in place on stumbling answers; returns the losses."""
    return fine_tune(policy, stumbling_answers(policy.tokenizer), config)


def stumbling_answers(tokenizer) -> Iterator[Document]:
    """Single-turn documents without end, always the same ones."""
    for index in range(FIRST_INDEX + OFFSET, 10**9):
        rng = random.Random(f"stumbling/{index}")
        task = functions_task("train", index)
        body = task.reference[task.entry_file].splitlines()[1:]
        (kind,) = rng.choices(
            ("right", "not python", "slips"), (SHARE_RIGHT, SHARE_NOT_PYTHON, SHARE_SLIPS)
        )
        if kind != "right":
            body = with_slips(body, rng, rng.choice((1, 2, 3)))
        if kind == "not python":
            body = not_python(body, rng)
        yield encode([("task", task.statement), ("act", "\n".join(body))], tokenizer)


def with_slips(body: list[str], rng: random.Random, number: int) -> list[str]:
    """The body after that many mutations of lines that can be mutated."""
    body = list(body)
    for _ in range(number):
        places = [(i, m.line) for i, line in enumerate(body) for m in mutations(line)]
        if places:
            index, line = rng.choice(places)
            body[index] = line
    return body


def not_python(body: list[str], rng: random.Random) -> list[str]:
    """The body with one line that Python refuses."""
    body = list(body)
    index = rng.randrange(len(body))
    line = body[index]
    breaks = [f"{line} )", f"{line} =", line.replace("return ", "return = ")]
    breaks += [line.replace(bracket, "", 1) for bracket in "()[]:" if bracket in line]
    body[index] = rng.choice([b for b in breaks if b != line])
    return body
