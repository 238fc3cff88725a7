"""Opening a policy: where the model is, in which numbers, on which device, with which adapters.

Stage: policy. A name, a folder or a Hub id goes in, a `CausalLMPolicy` comes out. What a model
needs of a GPU's memory: `workbench.diagnostics.gpu_memory` and docs/models.md.
Left out: downloading (transformers does it, where there is a network), several devices.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from workbench.policies.causal_lm import CausalLMPolicy, no_progress_bar
from workbench.policies.chat import ChatFormat
from workbench.policies.sizing import choose_device, choose_dtype, num_parameters, with_positions
from workbench.policies.transcript import with_template
from workbench.policies.vocabulary import expect_vocabulary

SHIPPED = Path(__file__).parents[2] / "data" / "policies"
"""Where the policies that come with the project lie."""
PINNED = {
    "Qwen/Qwen2.5-Coder-0.5B-Instruct": "ea3f2471cf1b1f0db85067f1ef93848e38e88c25",
    "Qwen/Qwen2.5-Coder-1.5B-Instruct": "2e1fd397ee46e1388853d2af2c993145b0f1098a",
    "Qwen/Qwen2.5-Coder-3B-Instruct": "488639f1ff808d1d3d0ba301aef8c11461451ec5",
    "Qwen/Qwen2.5-Coder-7B-Instruct": "c03e6d358207e414f1eca0bb1891e29f1db0e242",
    "Qwen/Qwen3-0.6B": "c1899de289a04d12100db370d81485cdf75e47ca",
    "Qwen/Qwen3-1.7B": "70d244cc86ccca08cf5af4e1e306ecf908b1ad5e",
    "Qwen/Qwen3-4B": "1cfa9a7208912126459214e8b04321603b3df60c",
    "Qwen/Qwen3-8B": "b968826d9c46dd6066d109eabc6255188de91218",
}
"""Hub id -> the commit that is opened unless another is asked for: a name alone may be given other
weights or another chat template any day."""
SMALL = 10_000_000
"""Weights below which one torch thread is fastest on a CPU that others use too, and a CPU faster
than a GPU that waits for it after every token."""


def open_policy(
    name_or_folder: str | Path = "tiny",
    *,
    lora: Any | None = None,
    adapter: str | Path | None = None,
    dtype: torch.dtype | Literal["auto"] = "auto",
    device: str = "auto",
    quantize: Literal["4bit"] | None = None,
    revision: str | None = None,
    positions: int | None = None,
    pad_token: str | None = None,
    chat: ChatFormat | Callable[[PreTrainedTokenizerBase], ChatFormat] | None = None,
    shorten: bool = False,
    seed: int = 0,
) -> CausalLMPolicy:
    """The policy in a folder, one that comes with the project, or one from the Hub.

    Args:
        name_or_folder: a folder, a name under data/policies such as "tiny", or a Hub id. A folder
            that holds adapters only is opened with the model they were trained on.
        lora: a `peft.LoraConfig`: the model's weights are frozen and new adapters are added.
        adapter: a folder with adapters that `policy.save` wrote, put on this model.
        dtype: of the weights. "auto": bfloat16 on a GPU; float32 on a CPU, unless that takes more
            than half of its memory.
        device: "auto" = a GPU if there is one and the model is not as small as the tiny policy.
        quantize: "4bit" = QLoRA: frozen weights in four bits (needs a CUDA GPU and bitsandbytes).
        revision: of the Hub's repository: a commit hash pins the weights; "main" = the newest.
            None = the one in PINNED, for other models the newest.
        positions: as many positions as this, by YaRN, where the model has fewer.
        pad_token: name of the padding token, for a tokenizer that has none; TRL needs one.
        chat: how the model is spoken to: a `chat_format`, or a function that makes one of the
            tokenizer, such as `answer_format` for tasks of one turn; None = what the tokenizer
            says. One that says nothing gets TRANSCRIPT as its chat template, with a warning.
        shorten: take old observations out of the context when it is full.
        seed: of the new adapters' starting weights.
    Raises:
        ValueError: nothing is found under that name; no padding token; a tokenizer that loses text
            or has tokens the model has not; a package or a device that is missing.

    For a model of fewer than SMALL weights torch is set to one thread, unless the environment's
    OMP_NUM_THREADS says otherwise: threads that wait for one another cost more than they bring.
    """
    _check_adapters(lora, adapter)
    source = _locate(name_or_folder)
    if (Path(source) / "adapter_config.json").is_file():
        source, adapter = _base_of(Path(source), adapter, lora)
    revision = revision or PINNED.get(source)
    config = _from_pretrained(AutoConfig, source, revision)
    if positions is not None:
        config = with_positions(config, positions)
    count = num_parameters(config)
    device = choose_device(device, is_small=count < SMALL)
    dtype = choose_dtype(dtype, device, count)
    options = dict(config=config, dtype=dtype)
    if quantize is not None:
        options |= dict(quantization_config=_four_bits(quantize, device), device_map=device)
    model = _from_pretrained(AutoModelForCausalLM, source, revision, **options)
    if quantize is None:
        model = model.to(device)
    if "OMP_NUM_THREADS" not in os.environ and count < SMALL:
        torch.set_num_threads(1)
    tokenizer = _with_padding(_from_pretrained(AutoTokenizer, source, revision), pad_token)
    expect_vocabulary(model, tokenizer)
    tokenizer = with_template(tokenizer)
    model = _with_adapters(model, lora, adapter, seed, quantize is not None)
    made = chat(tokenizer) if callable(chat) else chat
    return CausalLMPolicy(model, tokenizer, made, shorten=shorten)


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
        f"policy: expected a folder that exists, one of {shipped} or a Hub id OWNER/NAME, "
        f'got {str(name_or_folder)!r}; `python3 -m workbench pretrain` makes "tiny"'
    )


def _check_adapters(lora: Any, adapter: str | Path | None) -> None:
    """Raise ValueError unless at most one is given, and that one can be what it should be."""
    if lora is not None and adapter is not None:
        raise ValueError("expected new adapters (lora) or stored ones (adapter), got both")
    if lora is not None and not hasattr(lora, "peft_type"):
        raise ValueError(
            f"lora: expected a peft.LoraConfig, got {lora!r}; such as "
            'LoraConfig(r=16, lora_alpha=32, target_modules="all-linear")'
        )
    if adapter is not None and not (Path(adapter) / "adapter_config.json").is_file():
        found = "a folder without" if Path(adapter).is_dir() else "no such folder, hence no"
        raise ValueError(
            f"adapter: expected a folder that policy.save wrote for a LoRA policy, got "
            f"{str(adapter)!r}: {found} adapter_config.json; new adapters are lora=LoraConfig(...)"
        )


def _base_of(folder: Path, adapter: Any, lora: Any) -> tuple[str, Path]:
    """(base model, adapters' folder) of a folder that holds adapters."""
    if adapter is not None or lora is not None:
        raise ValueError(f"{folder} holds adapters already: expected no lora and no other adapter")
    try:
        stored = json.loads((folder / "adapter_config.json").read_text("utf-8"))
        base = stored.get("base_model_name_or_path") or ""
        return _locate(base), folder
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{folder / 'adapter_config.json'}: expected JSON, found none ({error}); it was not "
            "written to its end: save the policy again"
        )
    except ValueError:
        raise ValueError(
            f"{folder} holds adapters of {base!r}, which is not here; open the model they belong "
            f"to and give adapter={str(folder)!r}"
        )


def _from_pretrained(kind: Any, source: str, revision: str | None, **options: Any) -> Any:
    try:
        with no_progress_bar():
            return kind.from_pretrained(source, revision=revision, **options)
    except (OSError, ValueError) as error:
        if (inside := Path(source) / "policy").is_dir():
            what_to_do = f"it holds one: open_policy({str(inside)!r})"
        elif Path(source).is_dir():
            what_to_do = "expected a folder with a model and its tokenizer, see policy.save"
        else:
            what_to_do = (
                "there is no folder of that name here, and without a network a Hub id must have "
                f"been downloaded before (`hf download {source}`)"
            )
        raise ValueError(
            f"{source}: could not be opened as a policy; {what_to_do}. {error}"
        ) from error


def _four_bits(quantize: str, device: str) -> Any:
    import importlib.util

    from transformers import BitsAndBytesConfig

    if quantize != "4bit":
        raise ValueError(f'quantize: expected "4bit" or None, got {quantize!r}')
    if importlib.util.find_spec("bitsandbytes") is None or not device.startswith("cuda"):
        raise ValueError(
            "quantize: four-bit weights need a CUDA GPU and the package bitsandbytes "
            f"(`pip install bitsandbytes`); the device is {device!r}. LoRA on unquantised weights "
            "works everywhere"
        )
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def _with_padding(
    tokenizer: PreTrainedTokenizerBase, pad_token: str | None
) -> PreTrainedTokenizerBase:
    """The tokenizer with a padding token that is none of the tokens that end something."""
    if pad_token is not None:
        if pad_token not in tokenizer.get_vocab():
            raise ValueError(f"pad_token: expected a token of the vocabulary, got {pad_token!r}")
        tokenizer.pad_token = pad_token
    elif tokenizer.pad_token is None:
        names = [token.content for token in tokenizer.added_tokens_decoder.values()]
        raise ValueError(
            f"the tokenizer has no padding token; name one that means nothing else (not the end of "
            f"a turn), pad_token=..., such as one of {names[:8]}"
        )
    return tokenizer


def _with_adapters(
    model: nn.Module, lora: Any, adapter: str | Path | None, seed: int, quantized: bool
) -> nn.Module:
    if lora is None and adapter is None:
        return model
    from peft import PeftModel, get_peft_model, prepare_model_for_kbit_training

    if quantized:
        model = prepare_model_for_kbit_training(model)
    if adapter is not None:
        try:
            return PeftModel.from_pretrained(model, str(adapter), is_trainable=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"{adapter}: expected adapters of this model with their weights, as policy.save "
                f"writes them; they could not be put on it. {error}"
            ) from error
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return get_peft_model(model, lora)
        except ValueError as error:
            linear = {n.split(".")[-1] for n, m in model.named_modules() if type(m) is nn.Linear}
            wanted = "settings that peft accepts"
            if "not found in the base model" in str(error):
                wanted = f'target_modules of this model, such as {sorted(linear)} or "all-linear"'
            raise ValueError(f"lora: expected {wanted}. {error}") from error
