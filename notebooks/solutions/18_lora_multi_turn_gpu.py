"""Answers to notebook 18. Copy a function into its cell, or read it after your own attempt."""

from math import ceil


def my_sequence(turns):
    """18-e. Everything in its order; the mask is made while the tokens are placed.

    Guessing it afterwards, from special tokens in the text, is how observations come to be learned.
    """
    prompt, completion, mask = list(turns[0][0]), [], []
    for number, (new, sampled) in enumerate(turns):
        if number:
            completion += new
            mask += [0] * len(new)
        completion += sampled
        mask += [1] * len(sampled)
    return prompt, completion, mask


def my_turns(budget, a, o):
    """18-f. k messages need k a + (k - 1) o tokens.

    With twelve tokens a message and forty an observation, 128 end an attempt after three messages:
    before a bug is found, repaired and handed in. It looks like a policy that never submits.
    """
    return (budget + o) // (a + o)


def my_teaching(p, G):
    """18-g. Not all solved, and not none.

    With p = 0.1 it is 0.19 for groups of two, 0.34 for four and 0.57 for eight, if all tasks are
    equally hard; where some are always and others never solved it is less.
    """
    return 1 - p**G - (1 - p) ** G


def my_waiting(n, turns, s, w):
    """18-h. In each turn ceil(n / w) rounds of s seconds.

    Seventeen minutes a batch or one: for slow tests it decides which door of TRL's you take.
    """
    return turns * ceil(n / w) * s


RECALL = (
    "The same text has many tokenisations. Encoded again, the ids may be ones the policy would "
    "hardly have sampled: their logprobs, and with them the ratio, belong to something that never "
    "happened, and each further turn moves the places of all that follow.",
    "That updates, adapters included, do not reach the sampler; and that sampler and trainer give "
    "the same token different logprobs. In notebook 17 TRL sampled from the model it trains, so "
    "there was one program only.",
    "The learning rate (TRL's 1e-6 is not for adapters), updates a batch (one by default), groups "
    "that are all tied, and attempts cut short because the token budget counts observations.",
    "An advantage for each token in place of one for each attempt, and a mask that says which "
    "tokens belong to which turn; TRL broadcasts a number an attempt.",
)
"""Answers to the recall questions, in their order."""
