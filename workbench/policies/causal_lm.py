"""A `transformers` model as a policy, optionally with LoRA adapters.

Stage: policy. A name or folder goes in; a `CausalLMPolicy` comes out whose `model` is trained by
`learning` or TRL and whose sessions sample from it. Left out: models without the wire format's
tokens (they sample through TRL), quantisation, several devices.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast
from transformers.utils import logging

from workbench.policies.wire import ACT, BOS, END, OBS, TASK, prompt_ids
from workbench.records import SamplerSettings
from workbench.sampler import CausalLMSession, WireCodec, extract_weights

SHIPPED = Path(__file__).parents[2] / "data" / "policies"
"""Where the policies that come with the project lie."""
SMALL = 10_000_000
"""Weights below which one torch thread is fastest on a CPU that others use too."""


class CausalLMPolicy:
    """A model and its tokenizer. Training changes `model` in place; sessions opened afterwards
    sample from the changed weights, sessions opened before keep theirs."""

    def __init__(self, model: nn.Module, tokenizer: PreTrainedTokenizerFast):
        """Raises ValueError if the tokenizer lacks the wire format's special tokens."""
        vocabulary = tokenizer.get_vocab()
        if missing := [t for t in (BOS, END, TASK, ACT, OBS) if t not in vocabulary]:
            raise ValueError(
                f"tokenizer: expected the special tokens of the wire format, {missing} missing; "
                "make one with build_tokenizer, or train this model through TRL"
            )
        self.model, self.tokenizer = model.eval(), tokenizer
        self._hashed: tuple[tuple, str] | None = None
        # A group's rows see the same texts: most observations are encoded only once.
        encode = functools.lru_cache(maxsize=8192)(self._encode)
        end_id = tokenizer.convert_tokens_to_ids(END)
        self._codec = WireCodec(encode=encode, decode=tokenizer.decode, end_id=end_id)

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
        return self._hashed[1]

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> CausalLMSession:
        """A session of `n` rows that samples from the weights as they are now.

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
        weights = extract_weights(self.model, sampler.max_context)
        return CausalLMSession(weights, self._codec, n, seed=seed, sampler=sampler)

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer so that AutoModelForCausalLM and AutoTokenizer load them;
        of a LoRA policy the adapters are written, and `open_policy` finds their base again."""
        with no_progress_bar():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def _encode(self, text: str, first: bool) -> list[int]:
        return prompt_ids(self.tokenizer, "task" if first else "obs", text, first)


def hash_weights(model: nn.Module) -> str:
    """Sixteen hex digits of a SHA-256 over names, shapes, types and bytes of the weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        raw = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
        digest.update(raw.numpy().data)
    return digest.hexdigest()[:16]


def open_policy(
    name_or_folder: str | Path = "tiny",
    *,
    lora: Any | None = None,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
) -> CausalLMPolicy:
    """The policy in a folder, one that comes with the project, or one from the Hub.

    Args:
        name_or_folder: a folder, a name under data/policies such as "tiny", or a Hub id.
        lora: a `peft.LoraConfig`: the model's weights are frozen and adapters are added.
        dtype: of the weights; float32 on a CPU.
        seed: of the new adapters' starting weights.
    Raises:
        ValueError: nothing is found under that name, or the tokenizer has no wire format.

    For a model of fewer than SMALL weights torch is set to one thread, unless the environment's
    OMP_NUM_THREADS says otherwise: threads that wait for one another cost more than they bring.
    """
    source = _locate(name_or_folder)
    with no_progress_bar():
        model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype)
    if "OMP_NUM_THREADS" not in os.environ and model.num_parameters() < SMALL:
        torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(source)
    if lora is not None:
        from peft import get_peft_model

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = get_peft_model(model, lora)
    return CausalLMPolicy(model, tokenizer)


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


def _locate(name_or_folder: str | Path) -> str:
    """What `from_pretrained` is to load."""
    if Path(name_or_folder).is_dir():
        return str(name_or_folder)
    if (SHIPPED / name_or_folder).is_dir():
        return str(SHIPPED / name_or_folder)
    if str(name_or_folder).count("/") == 1:
        return str(name_or_folder)
    shipped = sorted(p.name for p in SHIPPED.glob("*") if p.is_dir()) or ["none yet"]
    raise ValueError(
        f"policy: expected a folder, one of {shipped} or a Hub id OWNER/NAME, "
        f'got {str(name_or_folder)!r}; `python3 -m workbench pretrain` makes "tiny"'
    )
