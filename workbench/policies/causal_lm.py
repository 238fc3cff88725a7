"""A `transformers` model as a policy, optionally with LoRA adapters.

Stage: policy. A model and its tokenizer go in (`open_policy` finds them); a `CausalLMPolicy` comes
out whose `model` is trained by `learning` or TRL and whose sessions sample from it. How an episode
becomes tokens is the wire format where the tokenizer has its tokens, else the model's chat format.
Left out: a model spread over several devices.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase
from transformers.utils import logging

from workbench.policies.chat import ChatFormat, chat_format
from workbench.policies.protocol import Session
from workbench.policies.shortening import ShorteningSession
from workbench.policies.wire import ACT, BOS, END, OBS, TASK, prompt_ids
from workbench.records import SamplerSettings
from workbench.sampler import CausalLMSession, WholeModelSession, WireCodec, extract_weights


class CausalLMPolicy:
    """A model and its tokenizer. Training changes `model` in place; sessions opened afterwards
    sample from the changed weights, sessions of the fast sampler opened before keep theirs."""

    def __init__(
        self,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        chat: ChatFormat | None = None,
        *,
        shorten: bool = False,
    ):
        """A policy of a model in memory.

        Args:
            chat: how the model is spoken to; None = the wire format if the tokenizer has its
                special tokens, else what its chat template says.
            shorten: take old observations out of the context when it is full (`shortening`).
        Raises:
            ValueError: neither the wire format's tokens nor a chat template.
        """
        self.model, self.tokenizer = model.eval(), tokenizer
        self.chat = chat
        if chat is None and not _has_wire_tokens(tokenizer):
            self.chat = chat_format(tokenizer)
        self._shorten = shorten
        self._hashed: tuple[tuple, str] | None = None
        self._without_adapters = False
        # A group's rows see the same texts: most observations are encoded only once.
        encode = functools.lru_cache(maxsize=8192)(self._encode)
        if self.chat is None:
            end_id = tokenizer.convert_tokens_to_ids(END)
            self._codec = WireCodec(encode=encode, decode=tokenizer.decode, end_id=end_id)
        else:
            self._codec = WireCodec(encode, self.chat.decode, self.chat.end_id)

    @property
    def version(self) -> str:
        """Sixteen hex digits of a SHA-256 over the weights as they are now.

        Torch counts the changes of every tensor: unless one has changed since the last time, or
        was written to through `.data`, which is not counted and is noticed by the next `open`,
        the hash is not computed again.
        """
        stamp = tuple((p.data_ptr(), p._version) for p in self.model.parameters())
        if self._hashed is None or self._hashed[0] != stamp:
            self._hashed = stamp, hash_weights(self.model)
        return self._hashed[1] + "-reference" * self._without_adapters

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> Session:
        """A session of `n` rows that samples from the weights as they are now.

        Llama, Qwen2 and Qwen3 sample with a cache across turns, other models from the beginning of
        the episode each turn (`WholeModelSession`).

        Raises ValueError if the model has fewer positions than `sampler.max_context`.
        """
        limit = self.model.config.max_position_embeddings
        if sampler.max_context > limit:
            raise ValueError(
                f"max_context: expected at most the model's {limit} positions, "
                f"got {sampler.max_context}"
            )
        if sampler.temperature < 0:
            raise ValueError(f"temperature: expected 0 or more, got {sampler.temperature}")
        self._hashed = None
        options = dict(seed=seed, sampler=sampler)
        try:
            weights = extract_weights(self.model, sampler.max_context)
        except ValueError:  # not one of those that the fast sampler can compute
            session = WholeModelSession(self.model, self._codec, n, **options)
        else:
            session = CausalLMSession(weights, self._codec, n, **options)
        return ShorteningSession(session, self._codec, n, sampler) if self._shorten else session

    @contextlib.contextmanager
    def reference(self) -> Iterator[CausalLMPolicy]:
        """Inside the block the adapters are off: the policy is the model it started from.

        The reference of a KL term costs no second model then. Raises ValueError if there are no
        adapters: keep a copy of such a policy.
        """
        if not hasattr(self.model, "disable_adapter"):
            raise ValueError(
                "reference: expected a policy with LoRA adapters, which can be switched off; open "
                "another policy as the reference of one whose every weight is trained"
            )
        with self.model.disable_adapter():
            self._without_adapters = True
            try:
                yield self
            finally:
                self._without_adapters = False

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer so that AutoModelForCausalLM and AutoTokenizer load them;
        of a LoRA policy the adapters are written, and `open_policy` finds their base again."""
        with no_progress_bar():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def __repr__(self) -> str:
        sizes = [(p.numel(), p.requires_grad) for p in self.model.parameters()]
        trained = sum(size for size, is_trained in sizes if is_trained)
        kind, size = self.model.config.model_type, sum(size for size, _ in sizes)
        return f"CausalLMPolicy({kind}, {size:,} weights, {trained:,} of them trained)"

    def _encode(self, text: str, first: bool) -> list[int]:
        if self.chat is not None:
            return self.chat.encode(text, first)
        return prompt_ids(self.tokenizer, "task" if first else "obs", text, first)


def _has_wire_tokens(tokenizer: PreTrainedTokenizerBase) -> bool:
    vocabulary = tokenizer.get_vocab()
    return all(token in vocabulary for token in (BOS, END, TASK, ACT, OBS))


def hash_weights(model: nn.Module) -> str:
    """Sixteen hex digits of a SHA-256 over names, shapes, types and bytes of the weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        raw = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
        digest.update(raw.numpy().data)
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def no_progress_bar() -> Iterator[None]:
    """Loading takes milliseconds; a bar would only litter notebooks and logs."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
