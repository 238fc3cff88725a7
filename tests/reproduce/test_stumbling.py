"""The stumbling base is taught answers that Python refuses, about tasks nobody else has."""

import itertools
import random

from workbench.policies import open_policy
from workbench.pretraining.corpus import FIRST_INDEX
from workbench.reproduce.stumbling import OFFSET, not_python, stumbling_answers
from workbench.tasks.functions import functions_task


def compiles(text):
    try:
        compile(text, "answer", "exec")
    except SyntaxError:
        return False
    return True


def test_python_refuses_every_broken_body():
    for index in range(300):
        task = functions_task("train", FIRST_INDEX + OFFSET + index)
        head, *body = task.reference[task.entry_file].splitlines()
        broken = not_python(body, random.Random(index))
        assert compiles("\n".join([head, *body])) and not compiles("\n".join([head, *broken]))
        assert sum(old != new for old, new in zip(body, broken, strict=True)) == 1


def test_nearly_all_answers_do_not_compile_and_they_are_always_the_same():
    tokenizer = open_policy("tiny").tokenizer
    first, again = (list(itertools.islice(stumbling_answers(tokenizer), 300)) for _ in range(2))
    assert [d.ids for d in first] == [d.ids for d in again]
    answers = []
    for document in first:
        said = [i for i, w in zip(document.ids, document.weights, strict=True) if w == 1.0]
        answers.append("def f(xs):\n" + tokenizer.decode(said, skip_special_tokens=True))
    share = sum(map(compiles, answers)) / len(answers)
    assert 0.0 < share < 0.05
