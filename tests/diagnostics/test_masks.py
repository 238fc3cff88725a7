"""`check_masks` on a rollout put together by hand, and on every published way to get it wrong."""

import copy

import pytest
import torch

from workbench.diagnostics import PATTERNS, check_masks

CHATML = """\
{%- for m in messages -%}
  {%- set text = m.content or '' -%}
  {%- if m.role == 'assistant' and not loop.last and '</think>' in text -%}
    {%- set text = text.split('</think>')[-1].lstrip('\\n') -%}
  {%- endif -%}
  {{- '<|im_start|>' + m.role + '\\n' + text + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"""
"""Qwen's form: a separator after each turn, and thinking that is dropped from earlier turns."""

MESSAGES = [
    {"role": "user", "content": "fix double"},
    {"role": "assistant", "content": "<think>look first</think>\n\nread lib.py"},
    {"role": "tool", "content": "def double(x): return x"},
    {"role": "assistant", "content": "<think>a product</think>\n\nedit return x * 2"},
]
PIECES = (
    ("<|im_start|>user\nfix double<|im_end|>\n", 0),
    ("<|im_start|>assistant\n", 0),
    ("<think>look first</think>\n\nread lib.py<|im_end|>", 1),
    ("\n", 0),
    ("<|im_start|>tool\ndef double(x): return x<|im_end|>\n", 0),
    ("<|im_start|>assistant\n", 0),
    ("<think>a product</think>\n\nedit return x * 2<|im_end|>", 1),
)
"""The same conversation token by token, as a sampler leaves it: (text, is it the model's?)."""
PROMPT, HEADER, FIRST, SEPARATOR, OBSERVATION, HEADER_2, LAST = range(7)


@pytest.fixture(scope="module")
def tokenizer():
    """A byte-level tokenizer with Qwen's markers."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    inner.train_from_iterator([text for text, _ in PIECES], trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    made.chat_template = CHATML
    return made


class Rollout:
    """Ids and mask of PIECES, some of them left out or changed."""

    def __init__(self, tokenizer, pieces=PIECES):
        self.ids, self.mask, self.spans = [], [], []
        for text, learned in pieces:
            new = tokenizer.encode(text, add_special_tokens=False)
            self.spans.append(range(len(self.ids), len(self.ids) + len(new)))
            self.ids += new
            self.mask += [learned] * len(new)

    def marked(self, *pieces, value=1):
        """The mask with other numbers on whole pieces."""
        places = {i for piece in pieces for i in self.spans[piece]}
        return [value if i in places else m for i, m in enumerate(self.mask)]


@pytest.fixture
def right(tokenizer):
    """The rollout as it should be."""
    return Rollout(tokenizer)


@pytest.mark.parametrize(
    "closing", ["", "{%- if not add_generation_prompt -%}{{- eos_token -}}{%- endif -%}"]
)
def test_a_turn_may_end_with_another_token_than_a_text(tokenizer, right, closing):
    """As Gemma's and Llama's turns do; Phi-3 also closes a text that no turn follows."""
    other = copy.deepcopy(tokenizer)
    other.eos_token, other.chat_template = "<|endoftext|>", CHATML + closing
    assert other.eos_token_id != right.ids[-1] not in other.all_special_ids
    assert check_masks(MESSAGES, right.ids, right.mask, tokenizer=other).ok
    late = right.marked(LAST, value=0)
    assert not check_masks(MESSAGES, right.ids, late, tokenizer=other).ok


def test_a_right_mask_passes(tokenizer, right):
    report = check_masks(MESSAGES, right.ids, right.mask, tokenizer=tokenizer)
    assert report.ok and report.expected == tuple(right.mask)
    assert repr(report) == f"mask: all {len(right.ids)} tokens are masked as they should be"


def test_completions_alone_and_padding_on_either_side_pass(tokenizer, right):
    start = right.spans[FIRST][0]
    ids, mask = right.ids[start:], right.mask[start:]
    assert check_masks(MESSAGES, ids, mask, tokenizer=tokenizer).ok
    padded, zeros = [0] * 3 + right.ids + [0] * 5, [0] * 3 + right.mask + [0] * 5
    assert check_masks(MESSAGES, padded, zeros, tokenizer=tokenizer).ok


def test_ids_that_no_tokenizer_would_choose_pass(tokenizer, right):
    letters = [tokenizer.encode(c, add_special_tokens=False) for c in "read"]
    assert all(len(ids) == 1 for ids in letters)
    whole = tokenizer.encode("read", add_special_tokens=False)
    at = next(i for i in range(len(right.ids)) if right.ids[i : i + len(whole)] == whole)
    ids = right.ids[:at] + [i for (i,) in letters] + right.ids[at + len(whole) :]
    mask = right.mask[:at] + [1] * 4 + right.mask[at + len(whole) :]
    assert len(ids) > len(right.ids)
    assert check_masks(MESSAGES, ids, mask, tokenizer=tokenizer).ok


def test_a_cut_off_attempt_passes_unless_such_are_left_out(tokenizer, right):
    ids, mask = right.ids[:-3], right.mask[:-3]
    assert check_masks(MESSAGES, ids, mask, tokenizer=tokenizer).ok
    report = check_masks(MESSAGES, ids, mask, tokenizer=tokenizer, leave_out_truncated=True)
    assert (report.pattern, report.first_wrong) == ("truncated learned", right.spans[FIRST][0])
    zeros = [0] * len(ids)
    assert check_masks(MESSAGES, ids, zeros, tokenizer=tokenizer, leave_out_truncated=True).ok


def test_our_wire_format_passes(tokenizer):
    from transformers import AutoTokenizer

    from tests.diagnostics.conftest import TINY
    from workbench.policies.wire import encode_text

    tiny = AutoTokenizer.from_pretrained(TINY)
    call = {"function": {"name": "cat", "arguments": {"argument": "lib.py"}}}
    messages = [
        {"role": "user", "content": "fix f"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "1|def f(x): # <|end|> é"},
        {"role": "assistant", "content": "submit"},
    ]
    bos, task, act, obs, end = tiny.convert_tokens_to_ids(
        ["<|bos|>", "<|task|>", "<|act|>", "<|obs|>", "<|end|>"]
    )
    parts = [
        ([bos, task, *encode_text(tiny, "fix f"), end, act], 0),
        ([*encode_text(tiny, "cat lib.py"), end], 1),
        ([obs, *encode_text(tiny, "1|def f(x): # <|end|> é"), end, act], 0),
        ([*encode_text(tiny, "submit"), end], 1),
    ]
    ids = [i for part, _ in parts for i in part]
    mask = [learned for part, learned in parts for _ in part]
    assert check_masks(messages, ids, mask, tokenizer=tiny).ok
    report = check_masks(messages, ids, [1] * len(ids), tokenizer=tiny)
    assert (report.pattern, report.first_wrong) == ("everything learned", 0)


def test_bytes_that_are_no_character_do_not_hide_where_a_turn_ends(tokenizer):
    half = tokenizer.encode("é", add_special_tokens=False)[:1]
    assert "\ufffd" in tokenizer.decode(half)
    messages = [MESSAGES[0], {"role": "assistant", "content": "x\ufffd"}, MESSAGES[2], MESSAGES[3]]
    before, after = Rollout(tokenizer, PIECES[:2]), Rollout(tokenizer, PIECES[3:])
    said = [*tokenizer.encode("x"), *half, tokenizer.eos_token_id]
    ids, mask = before.ids + said + after.ids, before.mask + [1] * len(said) + after.mask
    assert check_masks(messages, ids, mask, tokenizer=tokenizer).ok
    mask[len(before.ids) + 2] = 0
    assert wrong(tokenizer, ids, mask, messages) == ("end of turn not learned", len(before.ids) + 2)


def wrong(tokenizer, ids, mask, messages=MESSAGES, **more):
    report = check_masks(messages, ids, mask, tokenizer=tokenizer, **more)
    assert not report.ok and report.pattern in PATTERNS
    return report.pattern, report.first_wrong


def ends(right):
    return [right.spans[FIRST][-1], right.spans[LAST][-1]]


MASKS = {
    "template prefix learned": lambda r: (r.marked(HEADER, HEADER_2), r.spans[HEADER][0]),
    "observation learned": lambda r: (r.marked(OBSERVATION), r.spans[OBSERVATION][0]),
    "separator learned": lambda r: (r.marked(SEPARATOR), r.spans[SEPARATOR][0]),
    "prompt learned": lambda r: (r.marked(PROMPT), 0),
    "everything learned": lambda r: ([1] * len(r.ids), 0),
    "nothing learned": lambda r: ([0] * len(r.ids), r.spans[FIRST][0]),
    "inverted": lambda r: ([1 - m for m in r.mask], 0),
    "earlier turns left out": lambda r: (r.marked(FIRST, value=0), r.spans[FIRST][0]),
    "end of turn not learned": lambda r: (
        [0 if i in ends(r) else m for i, m in enumerate(r.mask)],
        r.spans[FIRST][-1],
    ),
    "model tokens left out": lambda r: (
        [0 if i in r.spans[FIRST][:4] else m for i, m in enumerate(r.mask)],
        r.spans[FIRST][0],
    ),
    "off by one": lambda r: (r.mask[1:] + [0], r.spans[FIRST][0] - 1),
    "shifted": lambda r: ([0, 0, 0, *r.mask[:-3]], r.spans[FIRST][0]),
    "other": lambda r: (
        [0 if i == ends(r)[1] else m for i, m in enumerate(r.marked(OBSERVATION))],
        r.spans[OBSERVATION][0],
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_a_wrong_mask_has_a_name_and_a_first_wrong_token(tokenizer, right, name):
    mask, first = MASKS[name](right)
    assert wrong(tokenizer, right.ids, mask) == (name, first)


def test_off_by_one_the_other_way(tokenizer, right):
    mask = [0, *right.mask[:-1]]  # the labels' mask, laid over the inputs
    assert wrong(tokenizer, right.ids, mask) == ("off by one", right.spans[FIRST][0])


def test_a_mask_padded_on_the_other_side(tokenizer, right):
    ids, mask = [0] * 5 + right.ids, right.mask + [0] * 5
    assert wrong(tokenizer, ids, mask)[0] == "padding side"


def test_padding_found_by_its_id_where_pad_is_eos(tokenizer, right):
    tokenizer.pad_token = "<|im_end|>"
    try:
        pad = tokenizer.eos_token_id
        ids = right.ids + [pad] * 3
        assert check_masks(MESSAGES, ids, right.mask + [0] * 3, tokenizer=tokenizer).ok
        assert wrong(tokenizer, ids, right.mask + [1] * 3) == ("padding learned", len(right.ids))
        no_eos = [m and i != pad for i, m in zip(ids, right.mask + [0] * 3)]
        assert wrong(tokenizer, ids, no_eos)[0] == "end of turn not learned"
    finally:
        tokenizer.pad_token = "<|endoftext|>"


def test_a_mask_that_is_longer_than_the_ids(tokenizer, right):
    assert wrong(tokenizer, right.ids, right.mask + [1, 1]) == ("wrong length", len(right.ids))


def split_apart(tokenizer, right):
    """(ids as sampled, letter by letter; mask; the sampled ids of each turn)."""
    ids, mask, sampled = [], [], []
    for piece, (text, learned) in enumerate(PIECES):
        if piece == FIRST:
            body, end = text.removesuffix("<|im_end|>"), tokenizer.eos_token_id
            letters = [i for c in body for i in tokenizer.encode(c, add_special_tokens=False)]
            new = [*letters, end]
        else:
            new = tokenizer.encode(text, add_special_tokens=False)
        if learned:
            sampled.append(new)
        ids += new
        mask += [learned] * len(new)
    return ids, mask, sampled


def test_ids_decoded_and_encoded_again(tokenizer, right):
    ids, mask, sampled = split_apart(tokenizer, right)
    assert check_masks(MESSAGES, ids, mask, tokenizer=tokenizer, sampled=sampled).ok
    # TRL #5144: the mask of the encoded text beside the sampled ids
    assert wrong(tokenizer, ids, right.mask)[0] == "re-tokenised"
    # TRL #5224: encoded ids with a mask that fits them: only the sampled ids show it
    assert check_masks(MESSAGES, right.ids, right.mask, tokenizer=tokenizer).ok
    found = wrong(tokenizer, right.ids, right.mask, sampled=sampled)
    assert found[0] == "re-tokenised" and found[1] in right.spans[FIRST]


TEXTS = {
    "thinking stripped": {FIRST: "read lib.py<|im_end|>"},
    "separator dropped": {SEPARATOR: ""},
    "observation missing": {OBSERVATION: ""},
    "beginning doubled": {PROMPT: "<|im_start|><|im_start|>user\nfix double<|im_end|>\n"},
    "other text": {OBSERVATION: "<|im_start|>tool\nno such file<|im_end|>\n"},
}


@pytest.mark.parametrize("name", TEXTS)
def test_ids_that_say_something_else(tokenizer, name):
    pieces = [(TEXTS[name].get(i, text), learned) for i, (text, learned) in enumerate(PIECES)]
    ids = Rollout(tokenizer, pieces)
    assert wrong(tokenizer, ids.ids, ids.mask)[0] == name


def test_an_observation_that_only_the_environment_gave(tokenizer):
    """TRL #6067: what reset() says is appended to the prompt's message, and got lost."""
    told = [{"role": "user", "content": "fix double in lib.py"}, *MESSAGES[1:]]
    ids = Rollout(tokenizer)
    report = check_masks(told, ids.ids, ids.mask, tokenizer=tokenizer)
    assert report.pattern == "observation missing"


def test_a_tool_call_that_was_parsed_and_written_anew_does_not_matter(tokenizer):
    """The model's own text may differ in blanks; what it was told is found all the same."""
    pieces = list(PIECES)
    pieces[LAST] = ("<think>a product</think>\n\nedit  return x*2<|im_end|>", 1)
    ids = Rollout(tokenizer, pieces)
    assert check_masks(MESSAGES, ids.ids, ids.mask, tokenizer=tokenizer).ok
    mask = ids.marked(OBSERVATION)
    assert wrong(tokenizer, ids.ids, mask) == ("observation learned", ids.spans[OBSERVATION][0])


def test_padding_behind_a_turn_that_was_written_anew_is_not_the_model_s(tokenizer):
    pieces = list(PIECES)
    pieces[LAST] = ("<think>a product</think>\n\nedit  return x*2<|im_end|>", 1)
    right = Rollout(tokenizer, pieces)
    ids, mask = right.ids + [tokenizer.pad_token_id] * 3, right.mask + [0] * 3
    assert check_masks(MESSAGES, ids, mask, tokenizer=tokenizer).ok
    found = wrong(tokenizer, ids, right.mask + [1, 0, 0])
    assert found == ("padding learned", len(right.ids))


def test_log_probs_at_other_places(tokenizer, right):
    given = [-0.5 if m else 0.0 for m in right.mask]
    said = [x for x in given if x]
    for logprobs in (given, said, [x or None for x in given]):
        assert check_masks(MESSAGES, right.ids, right.mask, logprobs, tokenizer=tokenizer).ok
    moved = [*given[1:], 0.0]
    first = right.spans[FIRST][0] - 1
    found = wrong(tokenizer, right.ids, right.mask, logprobs=moved)
    assert found == ("logprobs elsewhere", first)
    assert wrong(tokenizer, right.ids, right.mask, logprobs=said[:-2])[0] == "logprobs elsewhere"


def test_the_report_shows_the_neighbours(tokenizer, right):
    mask = right.marked(HEADER)
    text = repr(check_masks(MESSAGES, right.ids, mask, tokenizer=tokenizer))
    first = right.spans[HEADER][0]
    assert f">{first:>6}     1          0  '<|im_start|>'" in text
    assert "template prefix learned" in text and f"{len(right.spans[HEADER])} tokens" in text


def test_every_pattern_is_planted():
    elsewhere = {
        "wrong length", "re-tokenised", "padding side", "padding learned", "truncated learned",
        "logprobs elsewhere",
    }  # fmt: skip
    assert set(PATTERNS) == {*MASKS, *TEXTS, *elsewhere}


def test_what_is_no_row_of_ids_or_no_mask_is_refused(tokenizer, right):
    def told(ids=right.ids, mask=right.mask):
        with pytest.raises(ValueError) as error:
            check_masks(MESSAGES, ids, mask, tokenizer=tokenizer)
        return str(error.value)

    encoded = tokenizer.apply_chat_template(MESSAGES)  # a dict, by default
    assert "got a BatchEncoding of ['input_ids'," in told(encoded)
    assert "return_dict=False" in told(encoded)
    assert "ids: expected one row, got a batch of 1" in told([right.ids])
    assert "mask: expected one row, got a batch of 2" in told(mask=torch.zeros(2, 3))
    assert told(mask=[0.5] * len(right.ids)) == "mask: expected 0 or 1 for each token, got 0.5"
    labels = torch.tensor([i if m else -100 for i, m in zip(right.ids, right.mask)])
    assert told(mask=labels).endswith("got -100")
    as_bools = torch.tensor(right.mask).bool()
    assert check_masks(MESSAGES, torch.tensor(right.ids), as_bools, tokenizer=tokenizer).ok


def test_what_cannot_be_checked_is_refused(tokenizer, right):
    with pytest.raises(ValueError, match="at least one of role 'assistant'"):
        check_masks(MESSAGES[:1], right.ids, right.mask, tokenizer=tokenizer)
    template, tokenizer.chat_template = tokenizer.chat_template, None
    with pytest.raises(ValueError, match="chat template"):
        check_masks(MESSAGES, right.ids, right.mask, tokenizer=tokenizer)
    assert check_masks(MESSAGES, right.ids, right.mask, tokenizer=tokenizer, template=template).ok
    tokenizer.chat_template = template
