"""Policies: what acts in an episode. Scripted, tiny, or any causal LM with the wire format."""

from workbench.policies.causal_lm import CausalLMPolicy, open_policy
from workbench.policies.menu import MenuPolicy
from workbench.policies.protocol import Policy, Session
from workbench.policies.scripted import ScriptedPolicy
from workbench.policies.tiny import build_model, build_tokenizer

__all__ = [
    "CausalLMPolicy",
    "MenuPolicy",
    "Policy",
    "ScriptedPolicy",
    "Session",
    "build_model",
    "build_tokenizer",
    "open_policy",
]
