"""Answers to notebook 17. Copy a function into its cell, or read it after your own attempt."""


def my_code(text):
    """17-e. Go through the lines; the last pair of fences wins.

    An answer whose fence is never closed was cut off: it stays as it is, and fails, which tells
    you that the completions are too long for their budget. The package also drops a model's
    thinking before it looks (`answer_of`).
    """
    code, block = text, None
    for line in text.split("\n"):
        if line.startswith("```"):
            if block is not None:
                code = "\n".join(block)
            block = [] if block is None else None
        elif block is not None:
            block.append(line)
    return code


def my_share(rows, columns, r):
    """17-f. (rows + columns) r of rows x columns.

    At width 128 and rank 16 a quarter, at the widths of a model of seven billion below 1 %: what a
    laptop's policy does not show is the reason why LoRA exists.
    """
    return r * (rows + columns) / (rows * columns)


def my_batch(b, a, s, G):
    """17-g. b s / G tasks and s / a updates.

    The first case is this notebook's: 128 attempts, 16 tasks, four updates. TRL's own defaults
    have s = a, one update a batch: the same attempts then move the policy a quarter as far.
    """
    return b * s // G, s // a


def my_mask(pieces):
    """17-h. Only what the model wrote is learned.

    Its end mark is among its tokens: without it a model never learns to stop. What the template
    writes after that mark is not.
    """
    return [int(who == "model") for who, number in pieces for _ in range(number)]


RECALL = (
    "Whether the chat template was applied (messages, not strings); whether the completion was cut "
    "off before its program was complete; whether the program was taken out of its fence before it "
    "was graded. Then whether the reward swallows an exception.",
    "The default, 1e-6, is made for all weights of a large model. Adam moves a weight by about the "
    "rate in each update, and B starts at zero: after a hundred updates it is near 1e-4 still.",
    "The same model with its adapters switched off: one more forward pass, no second copy.",
    "At a ratio of 1 it is minus the mean advantage, and advantages of a group sum to zero. Its "
    "gradient is not zero.",
)
"""Answers to the recall questions, in their order."""
