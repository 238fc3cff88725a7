"""Pretraining: reproducible, in the wire format, and loadable by plain transformers."""

import dataclasses

import pytest

from workbench.policies import open_policy
from workbench.pretraining import PretrainConfig, pretrain
from workbench.pretraining.training import _schedule

SMALL = PretrainConfig(num_documents=120, num_updates=3, hidden=32, layers=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A pretrained policy's folder, and what was said on the way."""
    folder, lines = tmp_path_factory.mktemp("made"), []
    pretrain(folder, SMALL, log=lines.append)
    return folder, lines


@pytest.mark.slow
def test_the_same_seed_makes_the_same_policy(made, tmp_path):
    hashes = []
    for seed in (0, 1):
        pretrain(tmp_path, dataclasses.replace(SMALL, seed=seed), log=lambda line: None)
        hashes.append(open_policy(tmp_path).version)
    assert hashes[0] == open_policy(made[0]).version != hashes[1]


@pytest.mark.slow
def test_a_pretrained_folder_opens_with_transformers_alone(made):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, lines = made
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert model.config.max_position_embeddings == 2048
    assert tokenizer.eos_token == "<|end|>" and len(tokenizer) == 512
    assert lines[0].startswith("corpus: 120 documents")


def test_the_learning_rate_warms_up_and_falls_to_a_twentieth():
    assert _schedule(0.0) == pytest.approx(0.01)
    assert _schedule(0.02) == pytest.approx(1 - 0.95 * 0.02)
    assert _schedule(1.0) == pytest.approx(0.05)
