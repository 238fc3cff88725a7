"""docs/scaling.md: snippets run, the memory table is `gpu_memory`'s, every line is marked."""

import re
from pathlib import Path

import pytest
from transformers import Qwen2Config

from workbench.diagnostics import gpu_memory

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scaling.md").read_text("utf-8")
SIZES = {  # hidden, feed-forward, layers, heads, heads of keys: as published
    "Qwen2.5-Coder-0.5B": (896, 4864, 24, 14, 2, 151936, True),
    "Qwen2.5-Coder-1.5B": (1536, 8960, 28, 12, 2, 151936, True),
    "Qwen2.5-Coder-7B": (3584, 18944, 28, 28, 4, 152064, False),
}
NAMES = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
    "tie_word_embeddings",
)


@pytest.mark.parametrize("model", SIZES)
def test_a_row_of_memory_is_what_the_package_says(model):
    config = Qwen2Config(**dict(zip(NAMES, SIZES[model])))
    (cells,) = re.findall(rf"^\| {re.escape(model)} \| (.*) \|$", PAGE, re.MULTILINE)
    asked = (
        dict(sequences=64, microbatch=4, context=2048),
        dict(sequences=64, microbatch=1, context=16384),
        dict(sequences=64, microbatch=1, context=16384, lora_rank=None),
    )
    told = [f"{gpu_memory(config, **options).total / 2**30:.1f}" for options in asked]
    assert cells.split(" | ") == told


def test_the_snippets_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    assert names["switches"]["per_device_train_batch_size"] == 4
    assert "trl vllm-serve --model MODEL" in capsys.readouterr().out
    assert (tmp_path / "scale.json").exists()


def test_every_line_says_whether_it_was_run():
    body = PAGE.partition("## One process, no GPU")[2].partition("## In which order")[0]
    lines = [line for line in body.splitlines() if line.startswith("| ") and line != "| | | |"]
    unmarked = [
        line
        for line in lines
        if not re.search(r"\*\*(run|read|not tested|not)\*\*", line)
        and not line.startswith(("| model", "| Qwen"))
    ]
    assert len(lines) > 30 and unmarked == []


def test_the_table_of_the_script_has_each_of_its_checks():
    script = PAGE.partition("| check, ")[2].partition("## ")[0]
    source = (Path(__file__).resolve().parents[2] / "benchmarks" / "gpu_smoke.py").read_text(
        "utf-8"
    )
    named = re.findall(r'^    \("(.*?)", \w+, (?:True|False)\),$', source, re.MULTILINE)
    assert named and re.findall(r"^\| ([a-zA-Z].*?) \|", script, re.MULTILINE) == named
