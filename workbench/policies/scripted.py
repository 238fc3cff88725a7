"""A policy that says what it is told to: for tests, demonstrations and baselines.

Stage: policy. Observations go in, texts from a list or a function come out as actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.records import Action, SamplerSettings

Script = Sequence[str] | Callable[[list[str]], str]

END_ID = 256
"""End of turn in the byte tokenizer: a text's ids are its UTF-8 bytes."""


class ScriptedPolicy:
    """Plays a script in every row, at log-probability 0: it was certain.

    `script` is a list of texts, one a turn ("submit" when they run out), or a function from the
    observations so far to the next text.
    """

    def __init__(self, script: Script, version: str = "scripted"):
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

    def fork(self, i: int, k: int) -> ScriptedSession:
        """`k` rows that have seen what row `i` has seen."""
        new = ScriptedSession(self._script, [list(self._seen[i]) for _ in range(k)])
        new._lengths = [self._lengths[i]] * k
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
        ids = (*text.encode(), END_ID)
        prompt = (*seen[-1].encode(), END_ID)
        kept = self._lengths[i]
        self._lengths[i] += len(prompt) + len(ids)
        return Action(ids, (0.0,) * len(ids), text, "end_of_turn", kept, prompt)
