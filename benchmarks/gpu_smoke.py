"""Does everything run on the GPU of this machine? Every check, one table, under eight minutes.

    python benchmarks/gpu_smoke.py [--smallest] [--seed 0]

Nothing is downloaded: an untrained model is made on the spot from a configuration of Qwen2's, and
the tiny policy comes with the project. Without a GPU the checks that a CPU can make run in small,
and the others say "no GPU here". The exit status is 1 if a check failed.

    logprobs, CPU and GPU   largest difference of a token's logprob, float32
    bfloat16 gap            |difference| of the update's logprobs in bfloat16 from the sampler's
    one turn through TRL    a LoRA training of the made model: gradient, seconds
    memory                  what `gpu_memory` says of that training beside torch's own counter
    several turns           the tiny policy with LoRA through TRL: gradient, gap to the sampler
    our loop                one iteration of `train` with LoRA
    throughput              sampled tokens a second by our sampler, and by TRL's
"""

from __future__ import annotations

import argparse
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from peft import LoraConfig
from transformers import PrinterCallback

from workbench import load_tasks, open_policy, open_sandbox, train
from workbench.diagnostics import gpu_memory
from workbench.episodes import rollout_many
from workbench.learning import Batch, RLConfig, TrainConfig, pack, policy_logprobs
from workbench.policies import CausalLMPolicy
from workbench.records import Group
from workbench.rewards import RewardDesign, all_pass
from workbench.sandbox import Sandbox

LORA = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear")
SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
SMALL, HALF_A_BILLION = (64, 128, 2, 4), (896, 4864, 24, 14)
"""Of the made model; the second are Qwen2.5-Coder-0.5B's, its vocabulary apart."""
NO_GPU = "no GPU here"


@dataclass
class Bench:
    """What the checks share."""

    seed: int
    """Of every sample and of the made model's weights."""
    smallest: bool
    """Sizes for a test."""
    sandbox: Sandbox
    """Grades."""
    folder: Path
    """For the made model and the trainers."""
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")
    """Where the checks run."""
    peak: tuple[float, float] | None = None
    """(predicted, measured) bytes of the training of one turn."""

    @property
    def rl(self) -> RLConfig:
        """One iteration; ties are kept, as TRL does."""
        tasks, size = (2, 4) if self.smallest else (8, 8)
        return RLConfig(iterations=1, tasks_per_iteration=tasks, group_size=size,
                        updates_per_iteration=2, tied_groups="keep", lr=1e-3)  # fmt: skip

    @property
    def length(self) -> int:
        """Tokens that the made model samples."""
        return 16 if self.smallest else 64

    def attempts(self, policy: CausalLMPolicy) -> list[Group]:
        """The tiny policy's attempts at `bugfix`."""
        tasks = load_tasks("bugfix", "train", self.rl.tasks_per_iteration)
        return rollout_many(policy, tasks, self.sandbox, self.rl.group_size, self.seed)


def device(bench: Bench) -> str:
    """The machine in a line."""
    if bench.device == "cpu":
        return f"CPU, {torch.get_num_threads()} threads, torch {torch.__version__}"
    facts = torch.cuda.get_device_properties(0)
    bf16 = "bfloat16" if torch.cuda.is_bf16_supported() else "no bfloat16"
    return f"{facts.name}, {facts.total_memory / 2**30:.0f} GiB, {bf16}, torch {torch.__version__}"


def cpu_and_gpu(bench: Bench) -> str:
    """The same tokens scored on both; float32."""
    on_cpu = open_policy("tiny", device="cpu")
    on_gpu = open_policy("tiny", device="cuda", dtype=torch.float32)
    batch = _batch(bench, on_cpu)
    with torch.no_grad():
        here, _ = policy_logprobs(on_cpu.model, batch)
        there, _ = policy_logprobs(on_gpu.model, batch.to("cuda"))
    gap = float((here - there.cpu()).abs().max())
    return _require(gap < 1e-3, f"largest difference {gap:.1e}", "at most 1e-3")


def bfloat16_gap(bench: Bench) -> str:
    """Sampled in float32, scored in bfloat16."""
    policy = open_policy("tiny", device=bench.device, dtype=torch.float32)
    batch = _batch(bench, policy).to(bench.device)
    found = []
    for dtype in ("float32", "bfloat16"):
        with torch.no_grad():
            logprobs, _ = policy_logprobs(policy.model, batch, dtype)
        gaps = (logprobs - batch.old_logprobs)[batch.loss_mask].abs()
        found.append((float(gaps.mean()), float(gaps.max())))
    (exact, _), (mean, largest) = found
    told = f"mean {mean:.1e}, largest {largest:.1e} (float32: mean {exact:.1e})"
    return _require(exact < 1e-3 and mean < 0.1, told, "float32 below 1e-3, bfloat16 below 0.1")


def one_turn(bench: Bench) -> str:
    """A LoRA training of the made model on `functions`, sampled by TRL."""
    from trl import GRPOTrainer

    from workbench.trl_bridge import SingleTurn, grpo_config

    model, length = made_model(bench), bench.length
    tasks = load_tasks("functions", "train", 8)
    design = RewardDesign(length=(_length, 1.0))  # an untrained model solves nothing
    answers = SingleTurn(tasks, bench.sandbox, design, bench.rl)
    settings = grpo_config(bench.folder / "one", bench.rl, max_completion_length=length)
    if bench.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    trainer = GRPOTrainer(model=model, args=settings, train_dataset=answers.dataset(),
                          reward_funcs=answers.reward, peft_config=LORA)  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    tokens, render = trainer.processing_class, dict(add_generation_prompt=True, tokenize=False)
    prompts = [tokens.apply_chat_template(row["prompt"], **render) for row in answers.dataset()]
    context = max(map(len, tokens(prompts)["input_ids"])) + length
    predicted = gpu_memory(trainer.model.config, dtype="float32",
                           sequences=bench.rl.tasks_per_iteration * bench.rl.group_size,
                           microbatch=settings.per_device_train_batch_size,
                           context=context)  # fmt: skip
    bench.peak = predicted.total, float(torch.cuda.max_memory_allocated())  # 0 without a GPU
    return _trained(trainer, "reward_std")


def memory(bench: Bench) -> str:
    """Of `one_turn`, which comes first: predicted beside torch's counter."""
    assert bench.peak is not None, "the check of one turn did not finish"
    predicted, measured = (value / 2**30 for value in bench.peak)
    return f"predicted {predicted:.2f} GiB, measured {measured:.2f} GiB"


def several_turns(bench: Bench) -> str:
    """The tiny policy with LoRA on `bugfix`, credit a turn."""
    from workbench.credit import gigpo
    from workbench.trl_bridge import MultiTurn, TurnGRPOTrainer, grpo_config

    rl = replace(bench.rl, credit=gigpo)
    design = RewardDesign(tests=(all_pass("hidden"), 1.0), length=(_length, 0.1))
    tasks = load_tasks("bugfix", "train", 8)
    episodes = MultiTurn(tasks, bench.sandbox, design, rl)
    trainer = TurnGRPOTrainer(model=open_policy("tiny").model.config._name_or_path,
                              args=grpo_config(bench.folder / "several", rl),
                              train_dataset=episodes.dataset(), rollout_func=episodes.rollout,
                              reward_funcs=episodes.reward, peft_config=LORA)  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return _trained(trainer, "sampling/sampling_logp_difference/mean")


def our_loop(bench: Bench) -> str:
    """One iteration of `train` with LoRA."""
    policy = open_policy("tiny", lora=LORA, device=bench.device, dtype=torch.float32)
    before = policy.version
    config = TrainConfig(rl=bench.rl, dtype="float32", update_threads=1)
    tasks, folder = load_tasks("bugfix", "train", 8), bench.folder / "ours"
    run = train(policy, tasks, bench.sandbox, "rl", config=config, seed=bench.seed, folder=folder)
    run.wait()
    (row,) = [row for row in run.metrics if row["kind"] == "iteration"]
    sampling, updates = (row["seconds"][name] for name in ("sampling_wall", "update_wall"))
    told = f"{row['num_rollouts']} attempts {sampling:.1f} s, updates {updates:.1f} s"
    return _require(policy.version != before, told, "changed weights")


def throughput(bench: Bench) -> str:
    """Sampled tokens a second: our sampler, several turns; TRL's (`generate`), one turn."""
    policy = open_policy("tiny", device=bench.device)
    bench.attempts(policy)  # the first calls of torch and of a sandbox cost more
    start = time.perf_counter()
    groups = bench.attempts(policy)
    ours = sum(t.num_action_tokens for g in groups for t in g.trajectories)
    ours /= time.perf_counter() - start
    rows, length = bench.rl.tasks_per_iteration * bench.rl.group_size, bench.length
    made = open_policy(made_model(bench), device=bench.device)
    prompts = torch.full((rows, 32), 5, device=bench.device)
    options = dict(attention_mask=torch.ones_like(prompts), do_sample=True,
                   min_new_tokens=length, max_new_tokens=length)  # fmt: skip
    made.model.generate(prompts, **options)
    start = time.perf_counter()
    made.model.generate(prompts, **options)
    theirs = rows * length / (time.perf_counter() - start)
    return f"tiny, episodes {ours:,.0f}; made model, generate x {rows} {theirs:,.0f} tokens/s"


CHECKS: tuple[tuple[str, Callable[[Bench], str], bool], ...] = (
    ("device", device, False),
    ("logprobs, CPU and GPU", cpu_and_gpu, True),
    ("bfloat16 gap", bfloat16_gap, False),
    ("one turn through TRL", one_turn, False),
    ("memory", memory, True),
    ("several turns", several_turns, False),
    ("our loop", our_loop, False),
    ("throughput", throughput, False),
)
"""(name, what checks, whether it needs a GPU)."""


def made_model(bench: Bench) -> str:
    """Folder of an untrained Qwen2 with a chat template and a small tokenizer; made once."""
    import trl
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    folder = bench.folder / "made"
    if folder.exists():
        return str(folder)
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    learn = trainers.BpeTrainer(vocab_size=512, special_tokens=special, show_progress=False,
                                initial_alphabet=pre_tokenizers.ByteLevel.alphabet())  # fmt: skip
    bpe.train_from_iterator((t.statement for t in load_tasks("functions", "train", 64)), learn)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>",
                                        pad_token="<|endoftext|>")  # fmt: skip
    templates = Path(trl.__file__).parent / "chat_templates"
    sizes = HALF_A_BILLION if bench.device == "cuda" and not bench.smallest else SMALL
    tokenizer.chat_template = (templates / "qwen2_5.jinja").read_text("utf-8")
    ends = {f"{end}_token_id": getattr(tokenizer, f"{end}_token_id") for end in ("eos", "pad")}
    config = Qwen2Config(**dict(zip(SIZES, sizes)), **ends, num_key_value_heads=2,
                         vocab_size=len(tokenizer), max_position_embeddings=2048)  # fmt: skip
    torch.manual_seed(bench.seed)
    Qwen2ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; returns the number of checks that failed, at most 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smallest", action="store_true", help="sizes for a test")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    failed = 0
    with open_sandbox("auto") as sandbox, tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.seed, options.smallest, sandbox, Path(folder))
        for name, check, needs_gpu in CHECKS:
            start = time.perf_counter()
            if needs_gpu and bench.device == "cpu":
                told = NO_GPU
            else:
                try:
                    told = check(bench)
                except Exception as error:  # whatever it is, the other checks are worth having
                    traceback.print_exc()
                    told, failed = f"FAILED: {type(error).__name__}: {error}", 1
            print(f"{name:<23}{time.perf_counter() - start:7.1f} s  {told}", flush=True)
    return failed


def _length(trajectory, task) -> float:
    """A component that differs between most attempts: how much was said."""
    return sum(len(turn.action.text) for turn in trajectory.turns) / 64


def _batch(bench: Bench, policy: CausalLMPolicy) -> Batch:
    groups = bench.attempts(policy)
    return pack(groups, [[1.0] * len(group.trajectories) for group in groups])


def _trained(trainer, also: str) -> str:
    """Gradient norms of the updates; a gradient of zero or nan is a failure."""
    rows = [row for row in trainer.state.log_history if "grad_norm" in row]
    norms = [row["grad_norm"] for row in rows]
    seconds = sum(row["step_time"] for row in rows)
    told = f"{len(rows)} updates, {seconds:.1f} s, gradient {min(norms):.1e} to {max(norms):.1e}"
    return _require(min(norms) > 0, f"{told}, {also} {rows[0].get(also, float('nan')):.1e}", "> 0")


def _require(held: bool, told: str, expected: str) -> str:
    if not held:
        raise RuntimeError(f"expected {expected}, got {told}")
    return told


if __name__ == "__main__":
    raise SystemExit(main())
