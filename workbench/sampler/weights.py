"""A model's effective weights, laid out for fast sampling.

Stage: sampling. A `transformers` model (Llama, Qwen2 or Qwen3, with or without LoRA adapters) goes
in; a `ModelWeights` comes out that the forward pass of this room reads. Taking it is cheap, so each
session takes its own copy: a policy that has just been updated is sampled with its new weights,
and a session that is open during an update is not torn between two policies.

Two things are rearranged, neither changes what the model computes: matrices that read the same
input are stacked into one, and the two halves of each rotary pair are put side by side, so that
rotating a query or a key is one multiplication by a complex number.
Left out: other architectures, other biases than Qwen2's, sliding windows, quantised weights,
adapters but LoRA. `whole_model` samples from models of any kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

SUPPORTED = ("llama", "qwen2", "qwen3")
ROPE_TYPES = ("default", "linear", "llama3", "yarn")


@dataclass(frozen=True)
class LayerWeights:
    """One transformer block. Matrices are (outputs, inputs)."""

    norm_in: Tensor
    """(hidden,) scale of the norm before attention."""
    qkv: Tensor
    """((H + 2 * KV) * D, hidden): queries, keys, values; rotary pairs interleaved."""
    qkv_bias: Tensor | None
    """((H + 2 * KV) * D,) added to them in Qwen2, or None."""
    qk_norm: Tensor | None
    """(H + KV, D) scale of Qwen3's per-head norm of queries and keys, or None."""
    out: Tensor
    """(hidden, H * D) after attention."""
    norm_mlp: Tensor
    """(hidden,) scale of the norm before the feed-forward part."""
    gate_up: Tensor
    """(2 * intermediate, hidden): gate above up."""
    down: Tensor
    """(hidden, intermediate)."""


@dataclass(frozen=True)
class ModelWeights:
    """All that the sampler's forward pass needs."""

    embed: Tensor
    """(V, hidden)."""
    layers: tuple[LayerWeights, ...]
    """Blocks from input to output."""
    norm_out: Tensor
    """(hidden,) scale of the last norm."""
    head: Tensor
    """(V, hidden); the same tensor as `embed` where the model ties them."""
    rotations: Tensor
    """(positions, D / 2) complex64: exp(i * position * frequency)."""
    num_heads: int
    """H, query heads."""
    num_kv_heads: int
    """KV, key and value heads; H / KV queries share one."""
    head_dim: int
    """D."""
    eps: float
    """Added to the variance in every norm."""


def extract_weights(model: nn.Module, positions: int) -> ModelWeights:
    """A copy of the weights of `model` as they are now, active LoRA adapters added in; the model
    is left as it was.

    Args:
        model: LlamaForCausalLM, Qwen2ForCausalLM or Qwen3ForCausalLM, or a PEFT model around one.
        positions: longest sequence that will be sampled.
    Raises:
        ValueError: another architecture, or one of its variants that is left out here.
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    config = base.config
    _check_supported(config)
    for name, adapter in getattr(model, "peft_config", {}).items():
        if adapter.peft_type != "LORA":
            raise ValueError(f"adapter {name!r}: expected LoRA, got {adapter.peft_type}")
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    with torch.no_grad():
        embed, head = _effective(base.model.embed_tokens), _effective(base.lm_head)
        tied = head.data_ptr() == embed.data_ptr()
        embed = embed.clone()
        return ModelWeights(
            embed=embed,
            layers=tuple(_layer_weights(layer, head_dim) for layer in base.model.layers),
            norm_out=base.model.norm.weight.clone(),
            head=embed if tied else head.clone(),
            rotations=_rotations(base.model.rotary_emb, positions, head_dim),
            num_heads=config.num_attention_heads,
            num_kv_heads=config.num_key_value_heads,
            head_dim=head_dim,
            eps=config.rms_norm_eps,
        )


def _check_supported(config) -> None:
    if config.model_type not in SUPPORTED:
        raise ValueError(
            f"model type: expected one of {SUPPORTED}, got {config.model_type!r}; other models "
            "sample through WholeModelSession and train through TRL"
        )
    if getattr(config, "quantization_config", None) is not None:
        raise ValueError("expected weights as numbers, got quantised ones")
    if getattr(config, "attention_bias", False) or getattr(config, "mlp_bias", False):
        raise ValueError("expected a model without biases; the sampler's forward pass has none")
    if config.hidden_act not in ("silu", "swish"):
        raise ValueError(f"activation: expected 'silu', got {config.hidden_act!r}")
    if getattr(config, "use_sliding_window", False):
        raise ValueError("expected full attention, got a sliding window")
    rope_type = (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")
    if rope_type not in ROPE_TYPES:
        raise ValueError(f"rope type: expected one of {ROPE_TYPES}, got {rope_type!r}")


def _layer_weights(layer: nn.Module, head_dim: int) -> LayerWeights:
    attention, mlp = layer.self_attn, layer.mlp
    query = _pair_up(_effective(attention.q_proj), head_dim)
    key = _pair_up(_effective(attention.k_proj), head_dim)
    value = _effective(attention.v_proj)
    qk_norm = None
    if hasattr(attention, "q_norm"):  # Qwen3
        scales = [
            _pair_up(norm.weight.detach()[:, None], head_dim).T.expand(len(rows) // head_dim, -1)
            for norm, rows in ((attention.q_norm, query), (attention.k_norm, key))
        ]
        qk_norm = torch.cat(scales)
    return LayerWeights(
        norm_in=layer.input_layernorm.weight.clone(),
        qkv=torch.cat([query, key, value]),
        qkv_bias=_qkv_bias(attention, head_dim),
        qk_norm=qk_norm,
        out=_effective(attention.o_proj).clone(),
        norm_mlp=layer.post_attention_layernorm.weight.clone(),
        gate_up=torch.cat([_effective(mlp.gate_proj), _effective(mlp.up_proj)]),
        down=_effective(mlp.down_proj).clone(),
    )


def _qkv_bias(attention: nn.Module, head_dim: int) -> Tensor | None:
    """The biases of queries, keys and values, rotary pairs interleaved as in their matrices."""
    biases = [getattr(attention, f"{name}_proj").bias for name in "qkv"]
    if biases[0] is None:
        return None
    query, key = (_pair_up(bias.detach()[:, None], head_dim)[:, 0] for bias in biases[:2])
    return torch.cat([query, key, biases[2].detach()])


def _effective(module: nn.Module) -> Tensor:
    """The matrix that `module` multiplies by: its weight plus what active LoRA adapters add."""
    if hasattr(module, "modules_to_save"):
        raise ValueError("expected LoRA adapters only, got a module named in modules_to_save")
    if not hasattr(module, "base_layer"):
        return module.weight.detach()
    weight = module.base_layer.weight.detach()
    if module.merged or module.disable_adapters:
        return weight
    for name in module.active_adapters:
        if variant := module.lora_variant.get(name):  # DoRA, aLoRA and the like
            raise ValueError(f"adapter {name!r}: expected plain LoRA, got {variant}")
        if module.lora_bias.get(name):
            raise ValueError(f"adapter {name!r}: expected plain LoRA, got one with a bias")
        if name in module.lora_A or name in module.lora_embedding_A:
            weight = weight + module.get_delta_weight(name).to(weight.dtype)
    return weight


def _pair_up(rows: Tensor, head_dim: int) -> Tensor:
    """Reorder the output rows of each head from (first halves, second halves) to pairs.

    Queries and keys are reordered alike, so their dot products stay the same.
    """
    halves = rows.reshape(-1, 2, head_dim // 2, rows.shape[-1])
    return halves.transpose(1, 2).reshape(rows.shape)


def _rotations(rotary: nn.Module, positions: int, head_dim: int) -> Tensor:
    """(positions, D / 2) complex table of the model's own rotary frequencies."""
    frequencies = rotary.inv_freq.detach().float()
    if len(frequencies) != head_dim // 2:
        raise ValueError(
            f"rotary frequencies: expected {head_dim // 2} (half of head_dim), "
            f"got {len(frequencies)}; partial rotary embeddings are not supported"
        )
    steps = torch.arange(positions, device=frequencies.device, dtype=torch.float32)
    angles = steps[:, None] * frequencies[None, :]
    return torch.polar(torch.full_like(angles, float(rotary.attention_scaling)), angles)
