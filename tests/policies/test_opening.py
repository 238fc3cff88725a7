"""Opening policies of any family: numbers, adapters, faults; and an episode with one."""

import json
import shutil

import pytest
import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer

from workbench import load_tasks, rollout
from workbench.learning.batch import pack
from workbench.learning.forward import policy_logprobs
from workbench.policies import TRANSCRIPT, answer_format, chat_format, open_policy
from workbench.policies.transcript import with_template
from workbench.records import SamplerSettings
from workbench.sampler import CausalLMSession, WholeModelSession

ADAPTERS = LoraConfig(r=2, target_modules="all-linear")
ROOM = SamplerSettings(max_action_tokens=12, max_context=3500)
FAMILIES = [
    pytest.param("llama", "llama3_2", marks=pytest.mark.slow),  # prints schemas over many lines
    ("llama", "llama3"),
    ("qwen2", "qwen2_5"),
    ("qwen3", "qwen3"),
]


def moved(policy):
    """The policy with adapters that change something."""
    with torch.no_grad():
        for name, parameter in policy.model.named_parameters():
            if "lora_B" in name:
                parameter += 0.1
    return policy


def logits(policy):
    with torch.no_grad():
        return policy.model(torch.tensor([[5, 9, 30, 7]])).logits


@pytest.mark.parametrize(("kind", "template"), FAMILIES)
def test_an_episode_of_every_family_is_token_in_token_out(chat_folder, sandbox, kind, template):
    policy = open_policy(chat_folder(kind, template))
    task = load_tasks("bugfix", "train", 1)[0]
    group = rollout(policy, task, sandbox, n=2, sampler=ROOM, max_turns=2)
    session = policy.open(1, sampler=ROOM)
    assert isinstance(session, CausalLMSession)
    for trajectory in group.trajectories:
        fed = []
        for k, turn in enumerate(trajectory.turns):
            text = trajectory.turns[k - 1].observation if k else task.statement
            assert turn.action.kept_prefix == len(fed)
            assert list(turn.action.new_ids) == policy.chat.encode(text, k == 0)
            fed += [*turn.action.new_ids, *turn.action.ids]
        batch = pack([group], [[1.0, 1.0]])
        row = trajectory is group.trajectories[1]
        assert batch.ids[int(row)][batch.attention_mask[int(row)]].tolist() == fed
    logprobs, _ = policy_logprobs(policy.model, batch)
    assert (logprobs.detach() - batch.old_logprobs).abs().max() < 1e-4


def test_the_tiny_policy_goes_through_the_same_door():
    policy = open_policy("tiny")
    assert policy.chat is None and policy.model.dtype == torch.float32
    assert policy.model.device.type == "cpu" and policy.tokenizer.pad_token == "<|pad|>"
    # as its card says
    assert repr(policy) == "CausalLMPolicy(llama, 820,352 weights, 820,352 of them trained)"


def test_adapters_are_stored_alone_and_found_again(chat_folder, tmp_path):
    base = chat_folder()
    policy = moved(open_policy(base, lora=ADAPTERS))
    policy.save(tmp_path / "adapters")
    stored = {path.name for path in (tmp_path / "adapters").iterdir()}
    assert "adapter_model.safetensors" in stored and "model.safetensors" not in stored
    for again in (
        open_policy(tmp_path / "adapters"),  # finds its base
        open_policy(base, adapter=tmp_path / "adapters"),
    ):
        assert again.version == policy.version and torch.equal(logits(again), logits(policy))
        trained = {n for n, p in again.model.named_parameters() if p.requires_grad}
        assert trained and all("lora_" in name for name in trained)


def test_the_reference_is_the_policy_with_its_adapters_off(chat_folder):
    base = chat_folder()
    policy, plain = moved(open_policy(base, lora=ADAPTERS)), open_policy(base)
    version = policy.version
    sampler = SamplerSettings(temperature=0.0, max_action_tokens=8, max_context=1500)

    def greedy(one):
        session = one.open(1, sampler=sampler)
        session.observe(0, "fix f")
        return session.act([0])[0].ids

    assert not torch.allclose(logits(policy), logits(plain))
    with policy.reference() as reference:
        assert torch.allclose(logits(reference), logits(plain))
        assert greedy(reference) == greedy(plain) and reference.version != version
    assert policy.version == version and not torch.allclose(logits(policy), logits(plain))
    with pytest.raises(ValueError, match="expected a policy with LoRA adapters"):
        with plain.reference():
            pass


def test_adapters_that_the_fast_sampler_cannot_add_sample_all_the_same(chat_folder):
    dora = LoraConfig(r=2, target_modules="all-linear", use_dora=True)
    policy = open_policy(chat_folder(), lora=dora)
    session = policy.open(1, sampler=ROOM)
    assert isinstance(session, WholeModelSession)
    session.observe(0, "fix f")
    assert session.act([0])[0].ids


def test_numbers_are_those_that_were_asked_for(chat_folder):
    policy = open_policy(chat_folder(), dtype=torch.bfloat16)
    assert policy.model.dtype == torch.bfloat16
    session = policy.open(1, sampler=ROOM)
    session.observe(0, "fix f")
    assert session.act([0])[0].ids


def test_more_positions_are_yarn(chat_folder):
    policy = open_policy(chat_folder(), positions=16_384)
    rope = policy.model.config.rope_parameters
    assert rope["rope_type"] == "yarn" and rope["factor"] == 4.0
    sampler = SamplerSettings(max_action_tokens=8, max_context=16_384)
    sessions = [policy.open(1, sampler=sampler)]
    sessions.append(WholeModelSession(policy.model, policy._codec, 1, sampler=sampler))
    for session in sessions:
        session.observe(0, "fix f " * 20)
    first, second = (session.act([0])[0] for session in sessions)
    assert first.ids == second.ids and first.logprobs == pytest.approx(second.logprobs, abs=1e-4)


def test_how_it_is_spoken_to_can_be_chosen(chat_folder, chat_tokenizer):
    folder = chat_folder()
    form = chat_format(chat_tokenizer("qwen2_5"), style="plain", system="Repair it.")
    assert open_policy(folder).chat.style == "tools"
    assert open_policy(folder, chat=form).chat.style == "plain"
    assert open_policy(folder, chat=answer_format).chat.system == ""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (dict(name_or_folder="nobody/nothing"), "without a network a Hub id must have been"),
        (dict(device="cuda:0"), r"expected one of \['cpu'.* got 'cuda:0'"),
        (dict(quantize="4bit"), "need a CUDA GPU and the package bitsandbytes"),
        (dict(quantize="2bit"), 'expected "4bit" or None'),
        (dict(lora=ADAPTERS, adapter="there"), "got both"),
        (dict(lora=dict(r=4)), r"lora: expected a peft.LoraConfig, got \{'r': 4\}; such as"),
        (
            dict(lora=LoraConfig(target_modules=["c_attn"])),
            r"expected target_modules of this model, such as \['down_proj'.*c_attn",
        ),
        (
            dict(lora=LoraConfig(r=0, target_modules="all-linear")),
            "lora: expected settings that peft accepts. .*positive integer",
        ),
        (dict(adapter="there"), "got 'there': no such folder, hence no adapter_config.json"),
        (dict(adapter="."), "got '.': a folder without adapter_config.json"),
        (dict(name_or_folder="tinny"), r"expected a folder that exists, one of \['tiny'\]"),
        (dict(pad_token="<nope>"), "expected a token of the vocabulary, got '<nope>'"),
    ],
)
def test_what_cannot_be_opened_says_what_to_do(chat_folder, options, why):
    if options.get("device") == "cuda:0" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=why):
        open_policy(**{"name_or_folder": chat_folder(), **options})


def test_of_a_run_the_policy_inside_is_named(chat_folder, tmp_path):
    shutil.copytree(chat_folder(), tmp_path / "policy")
    (tmp_path / "config.json").write_text('{"schema": 1}')
    with pytest.raises(ValueError, match=rf"it holds one: open_policy\('{tmp_path}/policy'\)"):
        open_policy(tmp_path)


def test_a_tokenizer_without_padding_asks_for_one(chat_folder):
    folder = chat_folder(pad=None)
    with pytest.raises(ValueError, match="no padding token; name one .*<|endoftext|>"):
        open_policy(folder)
    policy = open_policy(folder, pad_token="<|endoftext|>")
    assert policy.tokenizer.pad_token != policy.tokenizer.eos_token


def test_a_folder_without_its_tokenizer_is_refused(chat_folder):
    folder = chat_folder()
    for path in [*folder.glob("*token*"), *folder.glob("*.jinja")]:
        path.unlink()
    with pytest.raises(ValueError, match=r"gives back what it reads, got '' for .* tokenizer.json"):
        open_policy(folder)


def test_a_padding_token_outside_the_embedding_is_refused(chat_folder):
    folder = chat_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    num_rows = len(tokenizer)
    tokenizer.add_special_tokens({"pad_token": "<pad>"})  # and the model is left as it was
    tokenizer.save_pretrained(folder)
    with pytest.raises(ValueError, match=rf"{num_rows} rows holds, got \['<pad>'\] beyond it"):
        open_policy(folder)
    assert open_policy(folder, pad_token="<|endoftext|>").tokenizer.pad_token_id < num_rows
    model = AutoModelForCausalLM.from_pretrained(folder)  # the other way that the message names
    model.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(folder)
    assert open_policy(folder).tokenizer.pad_token_id == num_rows


@pytest.mark.parametrize("special", [True, False])
def test_a_token_outside_the_embedding_is_refused_where_text_can_become_it(chat_folder, special):
    folder = chat_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["<image>"], special_tokens=special)
    tokenizer.save_pretrained(folder)
    if special:
        assert open_policy(folder)  # nothing ever writes it
        tokenizer.chat_template += "<image>"
        tokenizer.save_pretrained(folder)
    with pytest.raises(ValueError, match=r"rows holds, got \['<image>'\] beyond it"):
        open_policy(folder)


def test_a_base_model_is_spoken_to_in_plain_text(chat_folder, sandbox, tmp_path):
    folder = chat_folder("llama", "llama3")
    (folder / "chat_template.jinja").unlink()
    with pytest.warns(UserWarning, match=r"taken for a base model .* that <\|eot_id\|> ends"):
        policy = open_policy(folder, lora=ADAPTERS)
    assert policy.tokenizer.chat_template == TRANSCRIPT and policy.chat.style == "plain"
    task = load_tasks("bugfix", "train", 1)[0]
    turns = rollout(policy, task, sandbox, n=2, sampler=ROOM, max_turns=2).trajectories[0].turns
    first, later = (policy.tokenizer.decode(turn.action.new_ids) for turn in turns)
    assert first.startswith("<|begin_of_text|>System:\nYou repair programs. ")
    assert first.endswith(f"\n\nUser:\n{task.statement}\n\nAssistant:\n")
    assert later.endswith(f"\n\nUser:\n{turns[0].observation}\n\nAssistant:\n")
    assert policy.chat.end_id == policy.tokenizer.eos_token_id
    policy.save(tmp_path / "adapters")
    with pytest.warns(UserWarning, match="no chat template"):
        assert open_policy(tmp_path / "adapters").version == policy.version


def test_a_tokenizer_without_template_and_end_of_text_is_refused(chat_tokenizer):
    tokenizer = chat_tokenizer("qwen2_5")
    tokenizer.chat_template = tokenizer.eos_token = None
    with pytest.raises(ValueError, match="a chat template or an end-of-text token, got neither"):
        with_template(tokenizer)


def test_adapters_whose_base_is_gone_say_so(chat_folder, tmp_path):
    base = chat_folder()
    open_policy(base, lora=ADAPTERS).save(tmp_path / "adapters")
    shutil.move(base, tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="which is not here; open the model they belong to"):
        open_policy(tmp_path / "adapters")
    assert open_policy(tmp_path / "elsewhere", adapter=tmp_path / "adapters").version
    with pytest.raises(ValueError, match="holds adapters already"):
        open_policy(tmp_path / "adapters", lora=ADAPTERS)


def test_adapters_that_were_not_written_to_their_end_say_so(chat_folder, tmp_path):
    base, folder = chat_folder(), tmp_path / "adapters"
    open_policy(base, lora=ADAPTERS).save(folder)
    (folder / "adapter_model.safetensors").unlink()
    with pytest.raises(ValueError, match="expected adapters of this model with their weights"):
        open_policy(folder)
    (folder / "adapter_config.json").write_text("{")
    with pytest.raises(ValueError, match="adapter_config.json: expected JSON, found none"):
        open_policy(folder)


def test_a_folder_that_holds_no_model_says_what_is_wrong(tmp_path):
    with pytest.raises(ValueError, match="expected a folder with a model and its tokenizer"):
        open_policy(tmp_path)  # empty
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    with pytest.raises(ValueError, match="could not be opened as a policy"):
        open_policy(tmp_path)
