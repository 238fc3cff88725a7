"""Every limit of the checks, with where it comes from.

Stage: beside the loop. "Recorded runs" are five headline runs (80 RL iterations each) and nine runs
of the cheating experiment (30 each), all learning as they should: a limit lies well outside of what
they show. docs/doctor.md says how to look at them again.
"""

RECENT = 10
"""Rows of the log that count as "now"."""

MIN_GROUPS = 16
"""Groups that must have been seen before ties are called a pattern: at a solve rate of 5 % a group
of 8 is tied with probability .66, sixteen in a row with .001."""

TIED_SHARE = 0.9
"""Share of tied groups above which nothing is learned. Recorded runs: at most .84 over ten rows, in
a policy that had learned to cheat."""

NEVER_ROLLOUTS = 64
"""Attempts without a reward above zero that rule out a solve rate of 5 % (.95**64 = .04)."""

TRUNCATED_SHARE = 0.5
"""Share of completions cut at the limit above which most of the reward is about length."""

CONTEXT_SHARE = 0.25
"""Share of our episodes that ran out of tokens. Recorded run (headline, seed 0): 12 of 72,692
actions were cut, no episode ran out of context."""

CLIPPED_SHARE = 0.5
"""Share of clipped tokens above which most of the gradient is gone. Recorded runs: at most .014."""

PINNED_ROWS = 10
"""Rows in a row without one clipped token, on samples used more than once, that say the policy does
not move. Recorded runs: at most 7."""

GAP_MEAN = 0.02
"""Mean |logprob of the trainer - logprob of the sampler|, nats a token. Recorded runs, sampler in
float32 and trainer in bfloat16: at most .0038 in any iteration. float32 against itself: below
1e-5."""

KL_PER_TOKEN = 1.0
"""Nats a token against the reference: there a token is e times as likely as under the reference, on
average. A LoRA run at 1e-3 on the tiny policy stays below .02 (tests/diagnostics)."""

DROPPED_SHARE = 0.05
"""Share of attempts that could not be judged; all of Wilson's interval must lie above it. Recorded
runs: 0."""

LORA_LR = 1e-5
"""Learning rates below it leave LoRA adapters nearly where they are: they want about ten times the
rate of full fine-tuning (Schulman et al. 2025, "LoRA Without Regret"), for which TRL's 1e-6 is the
default. Measured here for the tiny policy: 1e-3 for LoRA, 3e-4 for all weights."""

TOKENS_PER_TURN = 32
"""Tokens of one turn, observation included: 31.6 in the recorded runs, whose commands are one line.
JSON tool calls need more, so this is a lower bound."""

MOVED = 1e-4
"""Mean change of the trainer's logprobs on fixed tokens, nats, from which a sampler must have moved
too. Rounding in float32 is below 1e-5."""

TEMPERATURE_ERROR = 0.2
"""Mean |trainer's logprob - log softmax(logits / temperature)| of arbitrary tokens, nats. The tiny
policy: below 1e-6 in float32, .04 under bfloat16 autocast; a temperature of .9 taken for 1: 2.0."""

NUM_ROWS_COMPARED = 10_000
"""Rows of a data set that are compared when looking for leaks."""
