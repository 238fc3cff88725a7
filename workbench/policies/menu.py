"""A policy whose probabilities are known: it chooses from a menu that its last observation names.

Stage: policy. An observation goes in, a text drawn from {text: probability} comes out. Because it
remembers only the last observation and its choices are few, everything that can happen can be
counted: it is what estimates are compared with. Left out: memory, learning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.policies.scripted import said
from workbench.records import Action, SamplerSettings

Menu = Callable[[str], Mapping[str, float]]
"""Last observation -> {text: probability}. The first observation is the task's statement."""


class MenuPolicy:
    """Says a text of the menu with the probability that the menu gives it.

    >>> policy = MenuPolicy(lambda observation: {"run": 0.25, "submit": 0.75})
    >>> session = policy.open(1, seed=0)
    >>> session.observe(0, "fix f")
    >>> session.act([0])[0].text in ("run", "submit")
    True
    """

    def __init__(self, menu: Menu, version: str = "menu"):
        """A policy of this menu, known by this version."""
        self.menu, self.version = menu, version

    def choices(self, observation: str) -> Mapping[str, float]:
        """The menu after `observation`. Raises ValueError if its numbers are no probabilities."""
        choices = self.menu(observation)
        total = math.fsum(choices.values())
        if min(choices.values(), default=-1.0) < 0 or not math.isclose(total, 1.0):
            raise ValueError(
                f"menu after {observation!r:.40}: expected probabilities that sum to 1, got "
                f"{dict(choices)}"
            )
        return choices

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> MenuSession:
        """A session of `n` rows; the settings change nothing."""
        return MenuSession(self, np.random.SeedSequence(seed), [""] * n, [0] * n)


class MenuSession:
    """Session of a MenuPolicy."""

    def __init__(
        self,
        policy: MenuPolicy,
        seeds: np.random.SeedSequence,
        heard: Sequence[str],
        lengths: Sequence[int],
    ):
        self._policy, self._seeds = policy, seeds
        self._random = np.random.default_rng(seeds)
        self._heard, self._lengths = list(heard), list(lengths)

    def observe(self, i: int, text: str) -> None:
        """Give row `i` its next observation."""
        self._heard[i] = text

    def act(self, live: Sequence[int]) -> list[Action]:
        """A text of the menu for each row in `live`."""
        return [self._act(i, number) for i, number in zip(live, self._random.random(len(live)))]

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row in `live` had said its recorded text."""
        for i, action in zip(live, actions, strict=True):
            self._lengths[i] += len(action.new_ids) + len(action.ids)

    def take(self, rows: Sequence[int]) -> MenuSession:
        """A session whose row j continues `rows[j]`, with random numbers of its own."""
        heard, lengths = ([of[i] for i in rows] for of in (self._heard, self._lengths))
        return MenuSession(self._policy, self._seeds.spawn(1)[0], heard, lengths)

    def close(self) -> None:
        """Nothing to free."""

    def _act(self, i: int, number: float) -> Action:
        choices = self._policy.choices(self._heard[i])
        texts, probabilities = list(choices), np.array(list(choices.values()))
        place = np.searchsorted(probabilities.cumsum(), number * probabilities.sum(), side="right")
        text = texts[min(int(place), len(texts) - 1)]
        action = said(text, self._heard[i], self._lengths[i], math.log(choices[text]))
        self._lengths[i] += len(action.new_ids) + len(action.ids)
        return action
