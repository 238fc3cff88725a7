"""Logical lines: what a line and the indented lines below it say together."""


def logical_lines(text):
    """(number of the first line, text) for each statement of a file, comments left out."""
    number, parts = 0, []
    for line in text.splitlines():
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        if line[0].isspace() and parts:
            parts.append(line.strip())
            continue
        if parts:
            yield number, " ".join(parts)
        number, parts = number + 1, [line.strip()]
    if parts:
        yield number, " ".join(parts)
