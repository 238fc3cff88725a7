"""A policy behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, a provider's API.

Stage: policy. Observations go in as chat messages, what the server's model says comes out as
actions; the server applies the chat template and samples. Good for rollouts and evaluation. For
training an action needs its token ids and their log-probabilities: vLLM sends both when asked
(`token_ids=True`); what comes without is refused by `learning.batch.pack`.

A server that is busy or broken (429, 5xx, no answer) is asked again; if that does not help the
episode ends as "abort" and is dropped and counted. It is our fault, never a reward of 0. So is a
request that is refused after others were answered (the money has run out, say): what was played
until then is kept.
Left out: streaming; a prompt of token ids (the server renders each conversation anew); rows that
go on while others of their lane still wait.
"""

from __future__ import annotations

import random
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from workbench.policies.messages import assistant_message, heard_ids, sampled, text_of
from workbench.policies.tools import ALONE, SYSTEM, plain_instructions, schemas
from workbench.records import Action, SamplerSettings

FAULT = Action((), (), "", "fault")
"""What is recorded where the server did not answer."""
BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""HTTP statuses after which the same question may be answered later."""
_NO_ROOM = re.compile("context.(length|size|window)")
"""How servers say that a conversation is too long for the model."""


class EndpointError(RuntimeError):
    """The server refuses what it is asked first (a wrong address, key or model)."""


@dataclass(frozen=True)
class EndpointPolicy:
    """A model that a server plays.

    >>> policy = EndpointPolicy("Qwen/Qwen3-4B", "http://localhost:8000/v1")     # doctest: +SKIP
    >>> evaluate(policy, tasks, sandbox, sampler=SamplerSettings(max_action_tokens=1024,
    ...     max_context=32_768))                                                 # doctest: +SKIP
    """

    model: str
    """The model's name on the server."""
    base_url: str
    """Up to and including the version: what stands before "/chat/completions"."""
    api_key: str = field(default="", repr=False)
    """Sent as a bearer token; "" = none."""
    style: Literal["tools", "plain"] = "tools"
    """Tool schemas in the request, or commands described in words."""
    system: str = SYSTEM
    """The system message."""
    tools: tuple[str, ...] = ALONE
    """Which tools the model is told of."""
    token_ids: bool = False
    """Ask for token ids and log-probabilities (vLLM's `return_token_ids`), to train on them."""
    options: Mapping[str, Any] | None = None
    """Further fields of the request, such as {"reasoning_effort": "low"}; None takes one out."""
    concurrency: int = 16
    """Requests at a time."""
    timeout_s: float = 300.0
    """Wall-clock seconds for one answer."""
    num_retries: int = 5
    """How often a busy or broken server is asked again, after waits that double."""
    wait_s: float = 1.0
    """The first of these waits, unless the server says how long; none is longer than a minute."""
    _answered: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    """The address, once it has answered as it should."""

    @property
    def version(self) -> str:
        """The model's name and where it is: a server does not say when its weights change."""
        return f"{self.model}@{self.base_url}"

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> EndpointSession:
        """A session of `n` conversations. The server may or may not heed the seed."""
        return EndpointSession(self, [_Row() for _ in range(n)], seed, sampler)

    def opening(self, text: str) -> list[dict[str, Any]]:
        """The first messages of a conversation."""
        system = self.system
        if self.style == "plain":
            system = f"{system}\n\n{plain_instructions(self.tools)}".strip()
        told = [{"role": "system", "content": system}] if system else []
        return [*told, {"role": "user", "content": text}]


@dataclass(frozen=True)
class _Row:
    """One conversation."""

    messages: tuple[dict[str, Any], ...] = ()
    """All so far, as they are sent."""
    ids: tuple[int, ...] = ()
    """Token ids of all so far, where the server tells them."""
    num_acts: int = 0
    """Messages of the model."""


class EndpointSession:
    """Session of an EndpointPolicy."""

    def __init__(
        self,
        policy: EndpointPolicy,
        rows: Sequence[_Row],
        seed: int,
        sampler: SamplerSettings,
    ):
        import httpx  # here: only those who use a server wait for it

        self._policy, self._rows = policy, list(rows)
        self._seed, self._sampler, self._num_takes = seed, sampler, 0
        self._jitter = random.Random()  # of the waits between requests
        headers = {"Authorization": f"Bearer {policy.api_key}"} if policy.api_key else {}
        self._client = httpx.Client(headers=headers, timeout=policy.timeout_s)
        self._pool = ThreadPoolExecutor(policy.concurrency, thread_name_prefix="endpoint")

    def observe(self, i: int, text: str) -> None:
        """Give row `i` its next observation: the answer to its tool call, or a user's message."""
        row = self._rows[i]
        calls = row.messages[-1].get("tool_calls") if row.messages else None
        if not row.messages:
            new = self._policy.opening(text)
        elif calls:
            new = [{"role": "tool", "tool_call_id": c["id"], "content": text} for c in calls]
        else:
            new = [{"role": "user", "content": text}]
        self._rows[i] = replace(row, messages=(*row.messages, *new))

    def act(self, live: Sequence[int]) -> list[Action]:
        """One action for each row in `live`.

        Raises EndpointError if the server refuses the request itself and has answered none before.
        """
        answers = list(self._pool.map(self._ask, live))
        return [self._record(i, answer) for i, answer in zip(live, answers)]

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row in `live` had just said its recorded text."""
        for i, action in zip(live, actions, strict=True):
            self._said(i, action)

    def take(self, rows: Sequence[int]) -> EndpointSession:
        """A session whose row j continues `rows[j]`."""
        self._num_takes += 1
        seed = self._seed * 1_000_003 + self._num_takes
        return EndpointSession(self._policy, [self._rows[i] for i in rows], seed, self._sampler)

    def close(self) -> None:
        """Close the connections."""
        self._pool.shutdown(cancel_futures=True)
        self._client.close()

    def _record(self, i: int, answer: Mapping[str, Any] | Action) -> Action:
        """The action of an answer; moves the row on."""
        if isinstance(answer, Action):
            return answer
        choice, row = answer["choices"][0], self._rows[i]
        if choice.get("finish_reason") in ("error", "content_filter"):
            return FAULT  # the server broke off, or withheld what the model said
        ids, logprobs = sampled(choice)
        kept, new = heard_ids(row.ids, answer.get("prompt_token_ids")) if ids else (0, ())
        finish = "length" if choice.get("finish_reason") == "length" else "end_of_turn"
        action = Action(ids, logprobs, text_of(choice["message"]), finish, kept, new)
        self._said(i, action)
        return action

    def _said(self, i: int, action: Action) -> None:
        row = self._rows[i]
        message = assistant_message(action.text, f"call_{row.num_acts}")
        ids = (*row.ids[: action.kept_prefix], *action.new_ids, *action.ids)
        self._rows[i] = _Row((*row.messages, message), ids, row.num_acts + 1)

    def _body(self, i: int) -> dict[str, Any]:
        policy, row = self._policy, self._rows[i]
        body = {
            "model": policy.model,
            "messages": row.messages,
            "temperature": self._sampler.temperature,
            "max_tokens": self._sampler.max_action_tokens,
            "seed": (self._seed * 1_000_003 + i * 1009 + row.num_acts) % 2**31,
            "tools": schemas(policy.tools) if policy.style == "tools" else None,
            "logprobs": True if policy.token_ids else None,
            "return_token_ids": True if policy.token_ids else None,
            **(policy.options or {}),
        }
        return {name: value for name, value in body.items() if value is not None}

    def _ask(self, i: int) -> Mapping[str, Any] | Action:
        """The server's answer for a row, or the action that stands for there being none."""
        import httpx

        url = self._policy.base_url.rstrip("/") + "/chat/completions"
        for attempt in range(self._policy.num_retries + 1):
            wait = min(60.0, self._policy.wait_s * 2**attempt) * self._jitter.uniform(0.5, 1)
            try:
                response = self._client.post(url, json=self._body(i))
            except httpx.RequestError as error:  # no connection, half an answer, or none in time
                last = f"{type(error).__name__}: {error}"
                time.sleep(wait)
                continue
            if response.status_code in BUSY:
                last = f"HTTP {response.status_code}: {response.text[:300]}"
                time.sleep(_told_to_wait(response.headers.get("retry-after"), wait))
                continue
            if response.status_code == 400 and _NO_ROOM.search(response.text.lower()):
                if not self._rows[i].num_acts:
                    warnings.warn(
                        f"{url}: no room for even a first message ({response.text[:300]}); the "
                        "episode counts as unsolved. Lower sampler.max_action_tokens, or leave the "
                        "task out",
                        stacklevel=2,
                    )
                return Action((), (), "", "context")
            try:
                answer = _checked(response, url, self._policy)
            except EndpointError as error:
                if not self._policy._answered:
                    raise
                warnings.warn(f"{error}; the episode is dropped", stacklevel=2)
                return FAULT
            self._policy._answered.add(url)
            return answer
        tries = self._policy.num_retries + 1
        warnings.warn(
            f"{url}: expected an answer, got none in {tries} tries ({last}); the episode is "
            "dropped. Is the server up? Raise num_retries, wait_s or timeout_s, or lower "
            "concurrency",
            stacklevel=2,
        )
        return FAULT


def _checked(response: Any, url: str, policy: EndpointPolicy) -> Mapping[str, Any]:
    """The answer, if it has the shape of one. Raises EndpointError otherwise."""
    if response.status_code >= 300:
        raise EndpointError(
            f"{url}: expected an answer of {policy.model!r}, got HTTP {response.status_code}: "
            f"{response.text[:300]}; look at base_url, model and api_key"
        )
    try:
        answer = response.json()
        choice = answer["choices"][0]
        choice["message"]["role"], text_of(choice["message"])
        told = sampled(choice)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise EndpointError(
            f"{url}: expected a chat completion, got {response.text[:300]!r}; base_url is what "
            "stands before /chat/completions and usually ends in /v1"
        )
    if policy.token_ids and not (all(told) and answer.get("prompt_token_ids")):
        raise EndpointError(
            f"{url}: expected prompt_token_ids, token_ids and logprobs in the answer, as vLLM "
            f"sends them (return_token_ids), got {sorted(answer)} and a choice with "
            f"{sorted(choice)}; for evaluation, which needs none, leave token_ids=True out"
        )
    return answer


def _told_to_wait(header: str | None, wait: float) -> float:
    """Seconds to wait: what the server said, at most a minute, else `wait`."""
    try:
        return min(60.0, max(0.0, float(header)))
    except (TypeError, ValueError):
        return wait
