"""Pretrain the tiny policy: corpus -> tokenizer -> a few minutes of supervised training -> folder.

Stage: before the loop. In: a `PretrainConfig`. Out: a folder that `from_pretrained` loads, with
a card. Left out: everything a large pretraining run needs (sharding, packing, evaluation sets);
what is measured afterwards is the solve rate, by `evaluate`.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from transformers import LlamaForCausalLM

from workbench.policies.tiny import build_model, build_tokenizer
from workbench.pretraining.corpus import Document, conversations, encode

MAX_TOKENS = 1024
"""Longer documents are left out."""


@dataclass(frozen=True)
class PretrainConfig:
    """How the base policy is made."""

    num_documents: int = 90_000
    """Size of the corpus; every document is seen at most once an epoch."""
    num_updates: int = 4_000
    """Optimiser steps; the corpus is repeated when it runs out."""
    batch_tokens: int = 4_096
    """Padded tokens in a batch, documents of like length together."""
    muon_lr: float = 6e-3
    """Peak learning rate of the matrices (Muon)."""
    adamw_lr: float = 3e-3
    """Peak learning rate of embeddings and norms (AdamW)."""
    hidden: int = 128
    """Width of the model."""
    layers: int = 4
    """Depth of the model."""
    seed: int = 0
    """Seed of corpus, weights and order."""


def build_corpus(config: PretrainConfig, workers: int = 2) -> list:
    """All conversations of the corpus, made by `workers` processes."""
    step = math.ceil(config.num_documents / (8 * workers))
    starts = range(0, config.num_documents, step)
    jobs = [(config.seed, s, min(s + step, config.num_documents)) for s in starts]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        return list(itertools.chain.from_iterable(pool.starmap(_conversations, jobs)))


def _conversations(seed: int, start: int, stop: int) -> list:
    return list(conversations(seed, start, stop))


def pretrain(
    folder: str | Path,
    config: PretrainConfig = PretrainConfig(),
    *,
    log: Callable[[str], None] = print,
) -> None:
    """Make the base policy and save it in `folder`; the same config gives the same policy."""
    start = time.perf_counter()
    torch.set_num_threads(1)  # other numbers of threads add in another order
    corpus = build_corpus(config)
    sample = itertools.islice((t for c in corpus for _, t in c), 60_000)
    tokenizer = build_tokenizer(sample)
    documents = [d for c in corpus if len((d := encode(c, tokenizer)).ids) <= MAX_TOKENS]
    tokens = sum(len(d.ids) for d in documents)
    log(f"corpus: {len(documents)} documents, {tokens} tokens, {time.perf_counter() - start:.0f} s")
    model = build_model(tokenizer, hidden=config.hidden, layers=config.layers, seed=config.seed)
    model.config._attn_implementation = "eager"  # SDPA's backward is slow on a CPU at this size
    model.train()
    optimizers = _optimizers(model, config)
    losses = []
    batches = _batches(documents, config)
    for update in range(config.num_updates):
        scale = _schedule(update / config.num_updates)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["peak_lr"] * scale
        losses.append(_update(model, next(batches), optimizers))
        if (update + 1) % 100 == 0:
            seconds = time.perf_counter() - start
            log(f"update {update + 1}: policy loss {np.mean(losses[-100:]):.3f}, {seconds:.0f} s")
    save(folder, model, tokenizer)


def save(folder: str | Path, model: LlamaForCausalLM, tokenizer) -> None:
    """Write model and tokenizer in the layout of transformers."""
    model.config._attn_implementation = "sdpa"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _optimizers(model: LlamaForCausalLM, config: PretrainConfig) -> list[torch.optim.Optimizer]:
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    muon = torch.optim.Muon(
        matrices, lr=config.muon_lr, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"
    )
    adamw = torch.optim.AdamW(others, lr=config.adamw_lr, betas=(0.9, 0.95), weight_decay=0.0)
    for optimizer in (muon, adamw):
        for group in optimizer.param_groups:
            group["peak_lr"] = group["lr"]
    return [muon, adamw]


def _schedule(progress: float) -> float:
    """Warm up over 2 %, then linearly down to a twentieth."""
    return min(progress / 0.02 + 0.01, 1.0) * (1 - 0.95 * progress)


def _batches(documents: list[Document], config: PretrainConfig) -> Iterator[list[Document]]:
    """Batches of documents of like length, in random order, epoch after epoch."""
    rng = random.Random(config.seed)
    while True:
        rng.shuffle(documents)
        batches = []
        for pool_start in range(0, len(documents), 2048):
            pool = sorted(documents[pool_start : pool_start + 2048], key=lambda d: len(d.ids))
            while pool:
                batch = [pool.pop()]
                room = config.batch_tokens // len(batch[0].ids)
                batch += [pool.pop() for _ in range(min(room - 1, len(pool)))]
                batches.append(batch)
        rng.shuffle(batches)
        yield from batches


def _update(
    model: LlamaForCausalLM, batch: list[Document], optimizers: list[torch.optim.Optimizer]
) -> float:
    """One optimiser step; returns the mean loss per token the policy says."""
    length = max(len(d.ids) for d in batch)
    length += -length % 32
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    weights = torch.zeros(len(batch), length)
    for row, document in enumerate(batch):
        ids[row, : len(document.ids)] = torch.tensor(document.ids)
        weights[row, : len(document.ids)] = torch.tensor(document.weights)
    # Documents are padded on the right, so causal attention never looks at padding.
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = model.model(input_ids=ids[:, :-1], use_cache=False).last_hidden_state
        wanted = weights[:, 1:] > 0
        logits = model.lm_head(hidden[wanted])
    loss = F.cross_entropy(logits.float(), ids[:, 1:][wanted], reduction="none")
    weight = weights[:, 1:][wanted]
    (loss * weight).sum().div(weight.sum()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    said = weight == 1.0
    return float(loss.detach()[said].mean())
