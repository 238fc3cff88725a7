"""A base that stumbles: it has the skill, and a habit in front of it.

Stage: beside the loop. In: a base policy; out: its weights after fine-tuning on single-turn answers
that Python refuses, the way a model may wrap every program in prose. Almost nothing it samples
compiles and nothing it says is right, yet the right answer is one slip away. It shows what a reward
for the first step does where the last one is never seen.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from workbench.policies import CausalLMPolicy
from workbench.pretraining.corpus import FIRST_INDEX, Document, encode
from workbench.reproduce.fine_tuning import SFTConfig, fine_tune
from workbench.tasks.functions import functions_task
from workbench.tasks.mutators import mutations

STUMBLE = SFTConfig(num_updates=1_500)
"""How long it is taught. With a tenth of it, 2 to 4 % of its attempts are still right."""
SHARE_NOT_PYTHON = 0.99
"""Share of the answers that do not compile; the others do, and are wrong."""
OFFSET = 500_000
"""Its tasks are numbered from FIRST_INDEX + OFFSET: none of the corpus, none of the suite's."""


def stumble(policy: CausalLMPolicy, config: SFTConfig = STUMBLE) -> list[float]:
    """Fine-tune the policy in place on stumbling answers; returns the losses."""
    return fine_tune(policy, stumbling_answers(policy.tokenizer), config)


def stumbling_answers(tokenizer) -> Iterator[Document]:
    """Single-turn documents without end, always the same ones."""
    for index in range(FIRST_INDEX + OFFSET, 10**9):
        rng = random.Random(f"stumbling/{index}")
        task = functions_task("train", index)
        body = task.reference[task.entry_file].splitlines()[1:]
        breaks = rng.random() < SHARE_NOT_PYTHON
        body = with_slips(body, rng, rng.choice((1, 2, 3)))
        if breaks:
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
    """The body with one line changed so that Python refuses the function."""
    index = rng.randrange(len(body))
    line = body[index]
    broken = [f"{line} )", f"{line} =", line.replace("return ", "return = ")]
    broken += [line.replace(bracket, "", 1) for bracket in "()[]:" if bracket in line]
    bodies = [[*body[:index], other, *body[index + 1 :]] for other in broken]
    return rng.choice([b for b in bodies if not _compiles(b)])


def _compiles(body: list[str]) -> bool:
    try:
        compile("\n".join(["def f(xs):", *body]), "answer", "exec")
    except SyntaxError:
        return False
    return True
