"""Words to lines of a width."""


def wrapped(text, width, first="", rest=""):
    """The text in lines of at most `width` characters.

    first, rest: what the first line and the others begin with; counted in the width.
    """
    lines, line, is_empty = [], first, True
    for word in text.split():
        if not is_empty and len(line) + 1 + len(word) >= width:
            lines.append(line)
            line, is_empty = rest, True
        line += word if is_empty else f" {word}"
        is_empty = False
    lines.append(line)
    return lines
