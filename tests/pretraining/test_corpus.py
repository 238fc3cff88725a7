"""The corpus: nothing of dev or test in it, the wire format, and honest observations."""

import random

import pytest

from workbench.environments import Environment
from workbench.policies.tiny import build_tokenizer
from workbench.pretraining.behaviours import SCRIPTS, WEIGHTS, find_bug, play
from workbench.pretraining.corpus import FIRST_INDEX, conversations, encode
from workbench.pretraining.trusted import TrustedRunner
from workbench.tasks import DEFAULT_COUNT, load_tasks
from workbench.tasks.bugfix import bugfix_task
from workbench.tasks.grammar import compositions, make_spec


@pytest.fixture(scope="module")
def corpus():
    """Two hundred conversations."""
    return list(conversations(0, 0, 200))


def words_without_numbers(words):
    return " ".join("K" if w.isdigit() else w for w in words.split())


def specs_in(text):
    """Every spec written in a text, its numbers replaced by K."""
    for line in text.split("\n"):
        for mark in ("# ", "): "):
            if mark in line:
                yield words_without_numbers(line.split(mark, 1)[1])


@pytest.mark.parametrize("count", [200, pytest.param(1500, marks=pytest.mark.slow)])
def test_no_dev_or_test_composition_occurs_in_the_corpus(count):
    held_out = {
        words_without_numbers(make_spec(c, random.Random(0)).words)
        for split in ("dev", "test")
        for c in compositions(split)
    }
    corpus = conversations(0, 0, count)
    seen = {spec for messages in corpus for _, text in messages for spec in specs_in(text)}
    trained = {
        words_without_numbers(make_spec(c, random.Random(0)).words) for c in compositions("train")
    }
    assert len(seen & trained) > count / 5
    assert not seen & held_out


def test_no_corpus_task_is_a_task_of_the_suites():
    assert FIRST_INDEX > max(DEFAULT_COUNT.values())


@pytest.mark.parametrize("behaviour", SCRIPTS)
def test_trusted_answers_equal_the_sandboxs(behaviour, sandbox):
    for index in range(4):
        task = bugfix_task("train", FIRST_INDEX + index)
        rng = random.Random(index)
        environment = Environment(task, sandbox)
        environment.reset()
        for message, observation in play(task, behaviour, rng):
            assert environment.step(message).observation == observation


@pytest.mark.slow
def test_trusted_answers_equal_the_sandboxs_on_every_kind_of_bug(sandbox):
    for task in load_tasks("bugfix", "train", count=120):
        for files in (task.files, task.reference):
            trusted = TrustedRunner().run_tests(files, task.tests_file, task.limits)
            real = sandbox.run_tests(files, task.tests_file, task.limits)
            assert (trusted.status, trusted.outcomes, trusted.message) == (
                (real.status, real.outcomes, real.message)
            )


def test_the_expert_solves_and_the_others_mostly_do_not():
    weights = dict(WEIGHTS)
    assert sum(weights.values()) == pytest.approx(1.0)
    for index in range(10):
        task = bugfix_task("train", FIRST_INDEX + index)
        episode = play(task, "expert", random.Random(index))
        assert episode[-1][0] == "submit"
        bug = find_bug(task)
        assert f"edit {bug.path} {bug.number}|{bug.right}" in [m for m, _ in episode]


def test_only_what_the_policy_says_and_file_listings_carry_loss(corpus):
    tokenizer = build_tokenizer(t for c in corpus for _, t in c)
    messages = [("task", "fix f"), ("act", "cat lib.py"), ("obs", "1|x"), ("act", "submit")]
    document = encode(messages, tokenizer)
    act, end = tokenizer.convert_tokens_to_ids(["<|act|>", "<|end|>"])
    assert document.ids[0] == tokenizer.bos_token_id
    by_weight = {
        weight: tokenizer.decode(
            [i for i, w in zip(document.ids, document.weights) if w == weight]
        )
        for weight in (1.0, 0.25)
    }
    assert by_weight == {1.0: "cat lib.py<|end|>submit<|end|>", 0.25: "1|x<|end|>"}
    assert all(w == 0 for i, w in zip(document.ids, document.weights) if i == act)


def test_long_episodes_use_the_reserved_actions(corpus):
    long = [m for m in corpus if m[0][0] == "system"]
    said = {text.split(" ")[0] for messages in long for role, text in messages if role == "act"}
    assert {"note", "ask", "eval", "edit", "submit"} <= said
    assert max(sum(role == "act" for role, _ in m) for m in long) > 8
    elsewhere = [m for m in corpus if m[0][0] != "system"]
    assert not any(t.startswith(("note ", "ask ", "eval ")) for m in elsewhere for _, t in m)
