"""Policies: what acts in an episode. Scripted, tiny, any causal LM, a server's, or a team of them.

Stage: policy. `protocol` is what each of them keeps; `opening` finds a model, `causal_lm` samples
from it, `memory` counts what it needs. How an episode becomes tokens: `wire` for the tiny policy,
`chat` for models with a chat template (`transcript` gives a base model one), `messages` for a
server (`endpoint`). `scripted` and `menu` need no model; `shortening` makes room in a full context.
"""

from workbench.policies.causal_lm import CausalLMPolicy
from workbench.policies.chat import ChatFormat, answer_format, chat_format
from workbench.policies.endpoint import EndpointError, EndpointPolicy
from workbench.policies.menu import MenuPolicy
from workbench.policies.opening import open_policy
from workbench.policies.protocol import Policy, Session
from workbench.policies.scripted import ScriptedPolicy
from workbench.policies.team import Team
from workbench.policies.tiny import build_model, build_tokenizer
from workbench.policies.transcript import TRANSCRIPT

__all__ = [
    "CausalLMPolicy",
    "ChatFormat",
    "EndpointError",
    "EndpointPolicy",
    "MenuPolicy",
    "Policy",
    "ScriptedPolicy",
    "Session",
    "TRANSCRIPT",
    "Team",
    "answer_format",
    "build_model",
    "build_tokenizer",
    "chat_format",
    "open_policy",
]
