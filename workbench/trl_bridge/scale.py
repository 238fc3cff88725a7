"""More than one process, more than one host, and vLLM: one record that fills TRL's switches.

Stage: around learning, through TRL. A `Scale` goes in; out come switches for `grpo_config`, the
file `accelerate launch` reads, and the commands to type. Everything is TRL's, accelerate's and
vLLM's own; nothing is re-implemented.
Tried: several processes on one CPU host (a test launches two and compares their update with one
process's). NOT tried for want of the hardware: GPUs, several hosts, zero2/zero3/fsdp, vLLM in
either mode; for these, tests only show that accelerate and TRL accept what is written here.
Left out: tensor-parallel training, pipelines, schedulers of clusters.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from workbench.learning import RLConfig

_DISTRIBUTED = {
    "copy": "MULTI_GPU",
    "zero2": "DEEPSPEED",
    "zero3": "DEEPSPEED",
    "fsdp": "FSDP",
}


@dataclass(frozen=True)
class Scale:
    """How many processes train, what each holds, and who samples.

    >>> Scale(processes=8).switches(RLConfig())["per_device_train_batch_size"]
    4
    """

    processes: int = 1
    """Training processes on each host: one a GPU, or on CPUs as many as you like."""
    hosts: int = 1
    """Hosts that train."""
    device: Literal["gpu", "cpu"] = "gpu"
    """What they train on."""
    rows_at_once: int | None = None
    """Attempts in one forward and backward pass of a process; None = its whole share of a
    minibatch. Fewer need less memory and change nothing but speed."""
    weights: Literal["copy", "zero2", "zero3", "fsdp"] = "copy"
    """Every process has all weights; or optimiser state and gradients (zero2) or the weights too
    (zero3, fsdp) are spread over the processes. LoRA seldom needs more than a copy."""
    bfloat16: bool = True
    """Compute in bfloat16; on a CPU, float32 is exact and here the safe choice."""
    recompute: bool = True
    """Compute activations again in the backward pass instead of keeping them."""
    vllm: Literal["no", "colocate", "server"] = "no"
    """Who samples: this process; vLLM on the training GPUs; vLLM on GPUs of its own."""
    server: str | None = None
    """With vllm="server": its address, such as http://HOST:8000."""
    tensor_parallel: int = 1
    """GPUs that share one copy of the model inside vLLM."""
    vllm_memory: float = 0.3
    """With vllm="colocate": share of each GPU's memory for vLLM."""
    vllm_context: int | None = None
    """Longest sequence in vLLM, prompt and completion; None = the model's own limit."""

    def __post_init__(self) -> None:
        """Raises ValueError for settings that contradict each other."""
        for name in ("processes", "hosts", "tensor_parallel"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if self.device == "cpu" and (self.vllm != "no" or self.weights != "copy"):
            raise ValueError(
                'device="cpu": expected weights="copy" and vllm="no", got '
                f"weights={self.weights!r} and vllm={self.vllm!r}; they need GPUs"
            )
        if (self.vllm == "server") != (self.server is not None):
            raise ValueError(
                'server: expected an address with vllm="server" and none otherwise, got '
                f"vllm={self.vllm!r} and server={self.server!r}"
            )
        if self.vllm == "colocate" and self.num_processes % self.tensor_parallel:
            raise ValueError(
                f"tensor_parallel: expected a divisor of {self.num_processes} training processes, "
                f"got {self.tensor_parallel}"
            )
        if self.vllm == "no" and self.tensor_parallel > 1:
            raise ValueError('tensor_parallel: only with vllm="colocate" or "server"')
        if not 0.0 < self.vllm_memory < 1.0:
            raise ValueError(f"vllm_memory: expected a share in (0, 1), got {self.vllm_memory}")

    @property
    def num_processes(self) -> int:
        """Training processes in all."""
        return self.processes * self.hosts

    def switches(self, rl: RLConfig) -> dict[str, Any]:
        """For `grpo_config(folder, rl, **scale.switches(rl))`.

        Raises ValueError if tasks or rows do not divide among the processes: a group is sampled,
        compared and credited by one process.
        """
        rows = self._rows_a_process(rl)
        at_once = self.rows_at_once or rows
        if rows % at_once:
            raise ValueError(
                f"rows_at_once: expected a divisor of {rows}, a process's share of a minibatch, "
                f"got {at_once}"
            )
        accumulate = rows // at_once
        found = dict(
            per_device_train_batch_size=at_once,
            gradient_accumulation_steps=accumulate,
            steps_per_generation=rl.updates_per_iteration * accumulate,
            use_cpu=self.device == "cpu",
            bf16=self.bfloat16 and self.device == "gpu",
            gradient_checkpointing=self.recompute and self.device == "gpu",
        )
        return found | self._vllm()

    def accelerate(self) -> dict[str, Any]:
        """What `accelerate launch --config_file` reads, as plain JSON.

        Raises ValueError on CPUs: accelerate starts several processes there through MPI only.
        """
        if self.device == "cpu":
            raise ValueError('device="cpu": accelerate needs no file; commands() has torchrun')
        kind = _DISTRIBUTED[self.weights]
        config: dict[str, Any] = {
            "compute_environment": "LOCAL_MACHINE",
            "distributed_type": kind if self.num_processes > 1 or kind != "MULTI_GPU" else "NO",
            "num_processes": self.num_processes,
            "num_machines": self.hosts,
            "mixed_precision": "bf16" if self.bfloat16 else "no",
            "use_cpu": False,
            "debug": False,
        }
        if kind == "DEEPSPEED":
            config["deepspeed_config"] = {
                "zero_stage": int(self.weights[-1]),
                "zero3_init_flag": self.weights == "zero3",
                "zero3_save_16bit_model": self.weights == "zero3",
            }
        if kind == "FSDP":
            config["fsdp_config"] = {
                "fsdp_version": 2,
                "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
                "fsdp_reshard_after_forward": True,
                "fsdp_state_dict_type": "FULL_STATE_DICT",
            }
        return config

    def commands(
        self, script: str, config_file: str | Path = "scale.json", model: str = "MODEL"
    ) -> list[str]:
        """What to type: the server's command, if there is one, then the launch on every host.

        Writes nothing; `write` makes the file. On several hosts put each one's RANK, from 0, and
        the first one's IP in their places.
        """
        lines = []
        if self.vllm == "server":
            serve = ["trl", "vllm-serve", "--model", model]
            serve += ["--tensor_parallel_size", str(self.tensor_parallel)]
            if self.vllm_context:
                serve += ["--max_model_len", str(self.vllm_context)]
            lines.append(shlex.join(serve))
        if self.device == "cpu":
            launch = ["torchrun", "--nproc_per_node", str(self.processes)]
            if self.hosts > 1:
                launch += ["--nnodes", str(self.hosts), "--node_rank", "RANK"]
                launch += ["--master_addr", "IP", "--master_port", "29500"]
        else:
            launch = ["accelerate", "launch", "--config_file", str(config_file)]
            if self.hosts > 1:
                launch += ["--machine_rank", "RANK", "--main_process_ip", "IP"]
                launch += ["--main_process_port", "29500"]
        return [*lines, shlex.join([*launch, script])]

    def write(self, config_file: str | Path) -> Path:
        """Write `accelerate()` to a file whose name ends in .json; returns its path."""
        path = Path(config_file)
        if path.suffix != ".json":
            raise ValueError(f"config_file: expected a name that ends in .json, got {path.name!r}")
        path.write_text(json.dumps(self.accelerate(), indent=1) + "\n", encoding="utf-8")
        return path

    def check_machine(self) -> None:
        """Raises ValueError if this host lacks what the settings need, naming it."""
        found = torch.cuda.device_count()
        if self.device == "gpu" and found < self.processes:
            raise ValueError(
                f"processes: expected {self.processes} GPUs on this host, found {found}; "
                'fewer processes, or device="cpu" for a trial'
            )
        if self.vllm != "no" and importlib.util.find_spec("vllm") is None:
            raise ValueError(f'vllm={self.vllm!r}: vllm is not installed; pip install "trl[vllm]"')
        if self.weights in ("zero2", "zero3") and importlib.util.find_spec("deepspeed") is None:
            raise ValueError(f"weights={self.weights!r}: expected deepspeed; pip install deepspeed")

    def _rows_a_process(self, rl: RLConfig) -> int:
        if rl.tasks_per_iteration % self.num_processes:
            raise ValueError(
                f"tasks_per_iteration: expected a multiple of {self.num_processes} processes (a "
                f"group stays in one of them), got {rl.tasks_per_iteration}"
            )
        rows = rl.tasks_per_iteration * rl.group_size
        if rows % (rl.updates_per_iteration * self.num_processes):
            raise ValueError(
                f"updates_per_iteration: expected {rows} attempts to divide into "
                f"{rl.updates_per_iteration} minibatches x {self.num_processes} processes"
            )
        return rows // (rl.updates_per_iteration * self.num_processes)

    def _vllm(self) -> dict[str, Any]:
        if self.vllm == "no":
            return {}
        found: dict[str, Any] = dict(use_vllm=True, vllm_mode=self.vllm)
        if self.vllm_context:
            found["vllm_max_model_length"] = self.vllm_context
        if self.vllm == "server":
            return found | dict(vllm_server_base_url=self.server)
        return found | dict(
            vllm_gpu_memory_utilization=self.vllm_memory,
            vllm_tensor_parallel_size=self.tensor_parallel,
        )
