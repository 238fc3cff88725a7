"""A policy that says what it is told to: for tests, demonstrations and baselines.

Stage: policy. Observations go in, texts from a list or a function come out as actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.records import Action, SamplerSettings

Script = Sequence[str] | Callable[[list[str]], str]
"""Texts, one a turn, or a function from the observations so far to the next text."""
END_ID = 256
"""End of turn in the byte tokenizer: a text's ids are its UTF-8 bytes."""


class ScriptedPolicy:
    """Plays a script in every row, at log-probability 0: it was certain.

    `script` is a list of texts, one a turn ("submit" when they run out), or a function from the
    observations so far to the next text.
    """

    def __init__(self, script: Script, version: str = "scripted"):
        """A policy of this script, known by this version."""
        self.script, self.version = script, version

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> ScriptedSession:
        """A session of `n` rows; seed and settings change nothing."""
        return ScriptedSession(self.script, [[] for _ in range(n)])


class ScriptedSession:
    """Session of a ScriptedPolicy."""

    def __init__(self, script: Script, seen: list[list[str]]):
        self._script, self._seen = script, seen
        self._lengths = [0] * len(seen)

    def observe(self, i: int, text: str) -> None:
        """Give row `i` its next observation."""
        self._seen[i].append(text)

    def act(self, live: Sequence[int]) -> list[Action]:
        """The script's next text for each row in `live`."""
        return [self._act(i) for i in live]

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row in `live` had said its recorded text."""
        for i, action in zip(live, actions, strict=True):
            self._lengths[i] += len(action.new_ids) + len(action.ids)

    def take(self, rows: Sequence[int]) -> ScriptedSession:
        """A session whose row j has seen what row `rows[j]` has seen."""
        new = ScriptedSession(self._script, [list(self._seen[i]) for i in rows])
        new._lengths = [self._lengths[i] for i in rows]
        return new

    def close(self) -> None:
        """Nothing to free."""

    def _act(self, i: int) -> Action:
        seen = self._seen[i]
        if callable(self._script):
            text = self._script(list(seen))
        else:
            turn = len(seen) - 1
            text = self._script[turn] if turn < len(self._script) else "submit"
        action = said(text, seen[-1], self._lengths[i])
        self._lengths[i] += len(action.new_ids) + len(action.ids)
        return action


def said(text: str, prompt: str, kept_prefix: int, logprob: float = 0.0) -> Action:
    """The action of a policy that has no tokens: its text's bytes, after the prompt's.

    The first byte carries the logprob of the whole text: once it is chosen the rest is certain.
    """
    ids = (*text.encode(), END_ID)
    logprobs = (logprob, *(0.0,) * (len(ids) - 1))
    return Action(ids, logprobs, text, "end_of_turn", kept_prefix, (*prompt.encode(), END_ID))
