"""Multi-turn rollouts, tokens a second: this package's session beside loops over model.generate.

    python benchmarks/rollout.py [--rounds 2] [--episodes 64] [--policy tiny] [--only short]

The same model, the same canned observations, no sandbox; one thread, CPU seconds, methods
interleaved in rounds. Read the ratios (median over rounds). Before the clock starts, the methods
must say the same words when greedy. Tokens are what an episode consists of, prompts and actions;
what a method computes twice is not counted twice. Only the session also returns log-probabilities.

    session         policy.open(): keys and values live across turns, new tokens only
    re-encode       model.generate on the whole conversation at every turn
    past_key_values model.generate that is handed the cache of the turn before
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from dataclasses import dataclass, replace

import torch

from workbench.policies import CausalLMPolicy, build_model, build_tokenizer, open_policy
from workbench.policies.wire import prompt_ids
from workbench.records import SamplerSettings

FILE = [
    "1|# sum of double of even",
    "2|def f(xs):",
    "3|    return sum(2 * x for x in xs if x % 2 == 1)",
    "4|# max of square",
    "5|def g(xs):",
    "6|    best = 0",
    "7|    for x in xs:",
    "8|        best = max(best, x * x)",
    "9|    return best",
]
REPLIES = [
    "lib.py:2: def f(xs):",
    "\n".join(FILE[1:3]),
    FILE[2],
    "FAIL f([3, -3]) got 2 want 4",
    FILE[2],
    "ok 2 passed",
    "error: unknown command edt",
]


@dataclass(frozen=True)
class Setting:
    """One workload."""

    name: str
    """For the report."""
    num_turns: int
    """Turns of every episode."""
    lines: int
    """Lines of a file in every observation; 0 = short replies, as in bugfix."""
    sampler: SamplerSettings
    """Limits of an action and of the context."""


SETTINGS = [
    Setting("short", 8, 0, SamplerSettings(max_action_tokens=24, max_context=768)),
    Setting("long", 16, 7, SamplerSettings(max_action_tokens=32, max_context=2048)),
]


def observation(setting: Setting, turn: int, row: int) -> str:
    """What row `row` hears at turn `turn`; rows hear texts of different lengths."""
    if turn == 0:
        return "fix f"
    if not setting.lines:
        return REPLIES[(turn - 1 + row % 3) % len(REPLIES)]
    first = (turn + row) % 3
    return "\n".join((FILE * 2)[first : first + setting.lines - 1 + row % 3])


class WithSession:
    """Method 1: ours."""

    def __init__(self, policy: CausalLMPolicy, num_rows: int, sampler: SamplerSettings):
        self._session = policy.open(num_rows, sampler=sampler)
        self._rows = list(range(num_rows))

    def turn(self, texts: list[str]) -> tuple[list[tuple[int, ...]], int]:
        """(action ids of each row, tokens by which the episodes have grown)."""
        for row, text in enumerate(texts):
            self._session.observe(row, text)
        actions = self._session.act(self._rows)
        return [a.ids for a in actions], sum(len(a.new_ids) + len(a.ids) for a in actions)


class WithGenerate:
    """Methods 2 and 3: `generate` once a turn, with or without the cache of the turn before.

    With it, a row's cache has holes (padding, and what generate computed after the row ended);
    the attention mask hides them.
    """

    def __init__(
        self,
        policy: CausalLMPolicy,
        num_rows: int,
        sampler: SamplerSettings,
        *,
        keep_cache: bool,
    ):
        self._policy, self._keep_cache = policy, keep_cache
        self._sequences = [[] for _ in range(num_rows)]
        self._ids = torch.zeros(num_rows, 0, dtype=torch.long)
        self._mask = torch.zeros(num_rows, 0, dtype=torch.long)
        self._cache = None
        sampling = dict(do_sample=True, temperature=sampler.temperature, top_k=0, top_p=1.0)
        self._options = dict(
            max_new_tokens=sampler.max_action_tokens,
            pad_token_id=policy.tokenizer.pad_token_id,
            eos_token_id=policy.tokenizer.eos_token_id,
            return_dict_in_generate=True,
            **(sampling if sampler.temperature > 0 else dict(do_sample=False)),
        )

    @torch.inference_mode()
    def turn(self, texts: list[str]) -> tuple[list[tuple[int, ...]], int]:
        """(action ids of each row, tokens by which the episodes have grown)."""
        first = not self._sequences[0]
        role = "task" if first else "obs"
        prompts = [prompt_ids(self._policy.tokenizer, role, text, first) for text in texts]
        if self._keep_cache:
            ids, mask = self._left_pad(prompts)
            ids, mask = torch.cat([self._ids, ids], 1), torch.cat([self._mask, mask], 1)
        else:
            both = zip(self._sequences, prompts, strict=True)
            ids, mask = self._left_pad([old + new for old, new in both])
        kept = dict(cache=self._cache) if self._cache is not None else {}
        result = self._policy.model.generate(
            input_ids=ids, attention_mask=mask, **kept, **self._options
        )
        new = result.sequences[:, ids.shape[1] :]
        ended = (new == self._options["eos_token_id"]).long()
        said = (ended.cumsum(1) - ended) == 0  # up to the first end of turn
        actions = [tuple(row[keep].tolist()) for row, keep in zip(new, said, strict=True)]
        for sequence, prompt, action in zip(self._sequences, prompts, actions, strict=True):
            sequence += [*prompt, *action]
        if self._keep_cache:
            self._cache = result.past_key_values
            self._ids, self._mask = result.sequences, torch.cat([mask, said.long()], 1)
        return actions, sum(map(len, prompts)) + sum(map(len, actions))

    def _left_pad(self, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """(B, T) ids and attention mask."""
        longest = max(map(len, rows))
        pad = self._options["pad_token_id"]
        ids = [[pad] * (longest - len(row)) + row for row in rows]
        mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
        return torch.tensor(ids), torch.tensor(mask)


METHODS = {
    "session": WithSession,
    "re-encode": lambda *args: WithGenerate(*args, keep_cache=False),
    "past_key_values": lambda *args: WithGenerate(*args, keep_cache=True),
}


def play(method, policy, setting: Setting, num_rows: int) -> tuple[int, list[float]]:
    """(tokens of all episodes, CPU seconds of each turn)."""
    player, tokens, seconds = None, 0, []
    for turn in range(setting.num_turns):
        texts = [observation(setting, turn, row) for row in range(num_rows)]
        started = time.process_time()
        player = player or method(policy, num_rows, setting.sampler)
        tokens += player.turn(texts)[1]
        seconds.append(time.process_time() - started)
    return tokens, seconds


def check_agreement(policy, setting: Setting) -> None:
    """Stop unless all methods take the same greedy actions for three turns of five rows."""
    greedy = replace(setting.sampler, temperature=0.0)
    players = {name: method(policy, 5, greedy) for name, method in METHODS.items()}
    for turn in range(3):
        texts = [observation(setting, turn, row) for row in range(5)]
        actions = {name: player.turn(texts)[0] for name, player in players.items()}
        for name, said in actions.items():
            if said != actions["session"]:
                raise SystemExit(f"{setting.name}, turn {turn}: {name} says other words")


def report(setting: Setting, num_rows: int, results: dict[str, list]) -> None:
    """Print a row a method."""
    tokens = statistics.median(count for count, _ in results["session"])
    print(f"\n{setting.name}: {setting.num_turns} turns, {tokens / num_rows:.0f} tokens an episode")
    print(f"{'method':17}{'tokens/s':>10}{'session is':>12}{'last/first quarter':>20}")
    speeds = {name: [n / sum(s) for n, s in runs] for name, runs in results.items()}
    quarter = setting.num_turns // 4
    for name, runs in results.items():
        pairs = zip(speeds["session"], speeds[name], strict=True)
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        growth = statistics.median(sum(s[-quarter:]) / sum(s[:quarter]) for _, s in runs)
        speed = statistics.median(speeds[name])
        print(f"{name:17}{speed:10.0f}{f'{ratio:.1f} x':>12}{f'{growth:.1f} x':>20}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="a long one takes minutes")
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--policy", default="tiny", help='a policy, or "untrained"')
    parser.add_argument("--only", choices=[setting.name for setting in SETTINGS])
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.policy == "untrained":  # ends hardly any turn by itself: all run to the limit
        tokenizer = build_tokenizer([*REPLIES, *FILE])
        policy = CausalLMPolicy(build_model(tokenizer), tokenizer)
    else:
        policy = open_policy(options.policy)
    size = sum(p.numel() for p in policy.model.parameters())
    print(f"{platform.machine()}, {os.cpu_count()} cores, one thread, torch {torch.__version__}")
    print(f"policy {options.policy} ({policy.version}): {size:,} parameters")
    for setting in SETTINGS:
        if options.only not in (None, setting.name):
            continue
        check_agreement(policy, setting)
        results = {name: [] for name in METHODS}
        for _ in range(options.rounds):
            for name, method in METHODS.items():
                results[name].append(play(method, policy, setting, options.episodes))
        report(setting, options.episodes, results)


if __name__ == "__main__":
    main()
