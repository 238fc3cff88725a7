"""Checks of what is trained: adapters, optimiser, dropout, reference.

Stage: beside the loop. Cases go in, sentences come out; nothing is changed. Left out: adapters
other than LoRA.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.diagnostics.cases import RunCase, TrainerCase
from workbench.diagnostics.checklist import CannotTell, check
from workbench.diagnostics.vitals import known

NAMED = 3
"""Modules that a message names at most."""
SETTLED = 3
"""Updates after which B has moved, also where a warm-up begins with a learning rate of 0."""


def lora_layers(model: Any) -> list[tuple[str, Any]]:
    """(name, module) of each place where peft has put a LoRA pair."""
    return [(n, m) for n, m in model.named_modules() if hasattr(m, "lora_B") and len(m.lora_B)]


def pairs(model: Any) -> Iterator[tuple[str, Any, Any]]:
    """(module's name, A's weight, B's weight) of every active LoRA pair."""
    for name, module in lora_layers(model):
        for adapter in module.active_adapters:
            if adapter in module.lora_B:
                yield name, module.lora_A[adapter].weight, module.lora_B[adapter].weight


def some(names: list[str]) -> str:
    """The first names of a list, and how many there are."""
    return ", ".join(names[:NAMED]) + (f" ... ({len(names)})" if len(names) > NAMED else "")


@check(
    "lora-frozen",
    "error",
    "trainer",
    why="An adapter that is switched off, merged, frozen or scaled by 0 gets no gradient; training "
    "runs on and every metric looks plausible.",
    change="A fresh adapter through peft_config=, or PeftModel.from_pretrained(..., "
    "is_trainable=True); no merge_adapter() or disable_adapter_layers() before training.",
)
def lora_frozen(case: TrainerCase) -> str | None:
    """LoRA adapters cannot learn: frozen, disabled, merged, scaled by zero, or nowhere."""
    if not case.lora:
        return None
    layers = lora_layers(case.model)
    active = list(pairs(case.model))
    if not active:
        return f"{len(layers)} modules have LoRA matrices, none of an active adapter"
    frozen = [name for name, a, b in active if not (a.requires_grad and b.requires_grad)]
    if frozen:
        return f"requires_grad is False in {some(frozen)}"
    off = [n for n, m in layers if m.disable_adapters or m.merged]
    if off:
        return f"disabled or merged into the weights: {some(off)}"
    unscaled = [n for n, m in layers if any(m.scaling.get(a) == 0 for a in m.active_adapters)]
    return f"lora_alpha / r is 0 in {some(unscaled)}" if unscaled else None


@check(
    "lora-dead",
    "error",
    "trainer run",
    why="B starts at zero and A's gradient is zero while it does: as long as B is zero the adapter "
    "changes nothing, and what is evaluated or saved is the base model.",
    change="Look at the learning rate and grad_norm; target modules that the forward pass uses "
    '(target_modules="all-linear"); the optimiser must hold the adapter\'s parameters.',
)
def lora_dead(case: TrainerCase | RunCase) -> str | None:
    """After updates, LoRA's B matrices are still zero, in all modules or in some."""
    if not case.lora:
        return None
    if isinstance(case, RunCase):
        path = case.folder / "policy" / "adapter_model.safetensors"
        if not path.is_file():
            raise CannotTell("the adapters are saved when the run has ended")
        dead, total = _zero_matrices(path)
        where = "saved modules"
    else:
        if case.num_updates < SETTLED:
            raise CannotTell(f"{case.num_updates} updates so far; {SETTLED} are needed")
        dead = [name for name, _, b in pairs(case.model) if not b.detach().any()]
        total, where = len(list(pairs(case.model))), f"modules after {case.num_updates} updates"
    if not dead:
        return None
    if case.vitals and not any(v.rewards_differ for v in case.vitals):
        raise CannotTell("in no group did rewards differ")
    return f"B is zero in {len(dead)} of {total} {where}: {some(dead)}"


def _zero_matrices(path: Path) -> tuple[list[str], int]:
    """(names of B matrices that hold only zero bits, number of B matrices) of a safetensors file.

    The format: eight bytes of length, a JSON header with each tensor's place, the raw numbers.
    """
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = {n: v for n, v in json.loads(raw[8 : 8 + length]).items() if "lora_B" in n}
    spans = {n: v["data_offsets"] for n, v in header.items()}
    body = memoryview(raw)[8 + length :]
    zero = [n for n, (start, end) in spans.items() if not any(body[start:end].tobytes())]
    return zero, len(header)


@check(
    "optimiser",
    "error",
    "trainer",
    why="What no optimiser holds is never changed, and an optimiser made before the adapters were "
    "added holds only frozen weights.",
    change="Let the trainer make its optimiser (leave `optimizers` out), or make yours from "
    "trainer.model.parameters() with requires_grad.",
)
def optimiser(case: TrainerCase) -> str | None:
    """Trainable parameters are in no optimiser, or nothing is trainable."""
    trained = {n: p for n, p in case.model.named_parameters() if p.requires_grad}
    if not trained:
        return "no parameter has requires_grad"
    if case.trainer.optimizer is None:
        raise CannotTell("the optimiser is made when training begins")
    held = {id(p) for group in case.trainer.optimizer.param_groups for p in group["params"]}
    missing = [name for name, p in trained.items() if id(p) not in held]
    if not missing:
        return None
    return f"{len(missing)} of {len(trained)} trainable parameters are in no optimiser: " + some(
        missing
    )


@check(
    "dropout",
    "warning",
    "trainer",
    why="With dropout the same text has another log-probability at every forward pass: ratios and "
    "KL measure the noise, and the clip takes away gradient for no reason.",
    change="GRPOConfig(disable_dropout=True), LoraConfig(lora_dropout=0).",
)
def dropout(case: TrainerCase) -> str | None:
    """Dropout is on in training."""
    found = []
    for name, module in case.model.named_modules():
        is_dropout = type(module).__name__.startswith("Dropout")
        p = module.p if is_dropout else getattr(module, "attention_dropout", 0.0)
        if isinstance(p, float) and p > 0:
            found.append((name, p))
    if not found:
        return None
    return f"p = {found[0][1]:g} in {some([name for name, _ in found])}"


@check(
    "reference",
    "error",
    "trainer",
    why="The KL term compares the policy with something that is not the policy training started "
    "from: it holds back nothing, or holds back towards the wrong place.",
    change="Leave the reference to TRL: the model as a folder or id (a second copy is loaded), or "
    "LoRA (the reference is the model without the adapter). beta=0 if you want none.",
)
def reference(case: TrainerCase) -> str | None:
    """A KL coefficient without a reference, or with one that moves along."""
    trainer = case.trainer
    if trainer.beta == 0:
        return None
    if trainer.ref_model is None and not case.lora:
        return f"beta is {trainer.beta:g}, and there is neither a reference model nor an adapter"
    if trainer.ref_model is not None and _shares_weights(trainer.ref_model, case.model):
        return f"beta is {trainer.beta:g}, and the reference shares its weights with the policy"
    numbers = known(case.vitals, "kl")[1:]  # the first is 0: nothing has been learned yet
    moved = any(v.grad_norm for v in case.vitals)
    if len(numbers) >= 2 and moved and not any(numbers):
        return f"KL is exactly 0 in {len(numbers)} rows while the policy is updated"
    return None


def _shares_weights(one: Any, other: Any) -> bool:
    theirs = {p.data_ptr() for p in one.parameters()}
    return any(p.data_ptr() in theirs for p in other.parameters() if p.requires_grad)
