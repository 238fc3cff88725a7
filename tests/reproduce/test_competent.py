"""Imitating the scripts: what is imitated, and that it is learned."""

import itertools

import torch

from workbench.policies import open_policy
from workbench.reproduce.competent import competent_episodes
from workbench.reproduce.fine_tuning import SFTConfig, batch_of, fine_tune


def test_the_mask_is_what_the_script_says_and_every_episode_hands_in(untrained):
    tokenizer = open_policy(untrained).tokenizer
    episodes = list(itertools.islice(competent_episodes(tokenizer, seed=0), 6))
    batch = batch_of(episodes)
    assert batch.ids.shape[1] % 32 == 0 and len(batch) == 6
    for row, episode in enumerate(episodes):
        assert batch.ids[row, : len(episode.ids)].tolist() == list(episode.ids)
        said = tokenizer.decode(batch.ids[row][batch.loss_mask[row]]).split("<|end|>")
        assert [text.strip() for text in said[-2:]] == ["submit", ""]
        assert any(text.startswith("edit ") for text in said)
        assert int(batch.lengths[row]) == len(episode.ids)


def test_the_same_seed_gives_the_same_episodes_and_another_seed_others(untrained):
    tokenizer = open_policy(untrained).tokenizer
    first, again, other = (next(competent_episodes(tokenizer, seed)) for seed in (0, 0, 1))
    assert first == again and first.ids != other.ids


def test_fine_tuning_lowers_the_loss(untrained):
    torch.set_num_threads(1)
    policy = open_policy(untrained)
    before = policy.version
    episodes = competent_episodes(policy.tokenizer, seed=0)
    losses = fine_tune(policy, episodes, SFTConfig(num_updates=12, batch_size=4, lr=1e-2))
    assert sum(losses[-3:]) / 3 < 0.8 * losses[0] and policy.version != before
