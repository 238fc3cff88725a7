"""Several processes, several hosts, vLLM: what TRL and accelerate are told."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from workbench.learning import RLConfig
from workbench.trl_bridge import Scale

PROGRAM = Path(__file__).with_name("one_update.py")


@pytest.mark.parametrize(
    ("processes", "rows_at_once", "expected"),
    [
        (1, None, (32, 1, 4)),  # 128 attempts, 4 updates
        (8, None, (4, 1, 4)),
        (8, 2, (2, 2, 8)),  # two passes an update; TRL counts passes, not updates
        (16, 1, (1, 2, 8)),
    ],
)
def test_a_minibatch_is_shared_out(processes, rows_at_once, expected):
    found = Scale(processes=processes, rows_at_once=rows_at_once).switches(RLConfig())
    names = "per_device_train_batch_size gradient_accumulation_steps steps_per_generation"
    assert tuple(found[name] for name in names.split()) == expected
    assert found["bf16"] and found["gradient_checkpointing"] and not found["use_cpu"]
    assert "use_vllm" not in found


def test_vllm_beside_the_training_and_on_a_server():
    beside = Scale(processes=4, vllm="colocate", tensor_parallel=2, vllm_context=4096)
    found = beside.switches(RLConfig())
    assert found["use_vllm"] and found["vllm_mode"] == "colocate"
    assert found["vllm_tensor_parallel_size"] == 2 and found["vllm_max_model_length"] == 4096
    apart = Scale(processes=4, vllm="server", server="http://sampler:8000", tensor_parallel=2)
    assert apart.switches(RLConfig())["vllm_server_base_url"] == "http://sampler:8000"
    serve, launch = apart.commands("train.py", "scale.json", model="base")
    assert serve == "trl vllm-serve --model base --tensor_parallel_size 2"
    assert launch == "accelerate launch --config_file scale.json train.py"
    (launch,) = Scale(processes=8, hosts=2).commands("train.py", "scale.json")
    assert "--machine_rank RANK --main_process_ip IP" in launch


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(processes=0), "processes: expected at least 1, got 0"),
        (dict(device="cpu", vllm="colocate"), "they need GPUs"),
        (dict(device="cpu", weights="zero3"), "they need GPUs"),
        (dict(vllm="server"), 'an address with vllm="server"'),
        (dict(server="http://x:1"), "and none otherwise"),
        (dict(processes=4, vllm="colocate", tensor_parallel=3), "a divisor of 4"),
        (dict(tensor_parallel=2), 'only with vllm="colocate" or "server"'),
        (dict(vllm_memory=1.5), r"a share in \(0, 1\), got 1.5"),
    ],
    ids=str,
)
def test_settings_that_contradict_each_other_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Scale(**settings)


def test_what_does_not_divide_is_refused():
    with pytest.raises(ValueError, match="a multiple of 3 processes"):
        Scale(processes=3).switches(RLConfig())
    with pytest.raises(ValueError, match="rows_at_once: expected a divisor of 32"):
        Scale(rows_at_once=5).switches(RLConfig())
    with pytest.raises(ValueError, match="128 attempts to divide into 5 minibatches"):
        Scale().switches(RLConfig(updates_per_iteration=5))


def test_a_machine_without_what_is_needed_is_named():
    with pytest.raises(ValueError, match="expected 99 GPUs on this host, found"):
        Scale(processes=99).check_machine()
    Scale(processes=2, device="cpu").check_machine()


@pytest.mark.parametrize("weights", ["copy", "zero2", "zero3", "fsdp"])
def test_accelerate_reads_the_file(weights, tmp_path):
    from accelerate.commands.config.config_args import load_config_from_file

    scale = Scale(processes=4, hosts=2, weights=weights)
    config = load_config_from_file(str(scale.write(tmp_path / "scale.json")))
    assert config.num_processes == scale.num_processes and config.num_machines == scale.hosts
    kinds = {"copy": "MULTI_GPU", "fsdp": "FSDP"}
    assert config.distributed_type.value == kinds.get(weights, "DEEPSPEED")
    if weights == "zero3":
        assert config.deepspeed_config["zero_stage"] == 3
    with pytest.raises(ValueError, match="a name that ends in .json"):
        scale.write(tmp_path / "scale.yaml")


def test_processes_on_cpus_are_started_by_torchrun():
    scale = Scale(processes=2, device="cpu")
    assert scale.commands("train.py") == ["torchrun --nproc_per_node 2 train.py"]
    with pytest.raises(ValueError, match=r"commands\(\) has torchrun"):
        scale.accelerate()


@pytest.mark.slow
@pytest.mark.parametrize(
    "scale",
    [
        Scale(processes=4, rows_at_once=1),
        Scale(processes=4, vllm="colocate", tensor_parallel=2, vllm_context=4096),
        Scale(processes=2, vllm="server", server="http://sampler:8000"),
    ],
    ids=["gpus", "colocate", "server"],
)
def test_trl_takes_the_switches(scale, tmp_path):
    """All of them but the device, which is not there."""
    from workbench.trl_bridge import grpo_config

    cpu = dict(use_cpu=True, bf16=False)
    args = grpo_config(tmp_path, RLConfig(), **scale.switches(RLConfig()) | cpu)
    for name, value in scale.switches(RLConfig()).items():
        assert getattr(args, name) == (cpu | {name: value} | cpu)[name]
    assert args.num_generations == 8


@pytest.mark.slow
def test_two_processes_make_the_update_that_one_makes(folder, groups, tmp_path):
    given = tmp_path / "given.pkl"
    rewards = np.random.default_rng(1).normal(size=(2, 4))
    given.write_bytes(pickle.dumps({"folder": folder, "groups": groups[:2], "rewards": rewards}))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
    found = {}
    for name, launcher in (
        ("one", []),
        ("two", ["-m", "torch.distributed.run", "--nproc_per_node", "2"]),  # = torchrun
    ):
        out = tmp_path / f"{name}.pt"
        command = [sys.executable, *launcher, str(PROGRAM), str(given), str(out)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-3000:]
        found[name] = torch.load(out)
    assert (found["one"]["world"], found["two"]["world"]) == (1, 2)
    assert found["two"]["loss"] == pytest.approx(found["one"]["loss"], rel=1e-4)
    for name, adapter in found["one"]["adapters"].items():
        same = found["two"]["adapters"][name.removeprefix("module.")]
        assert torch.allclose(adapter, same, rtol=1e-4, atol=1e-5), name
