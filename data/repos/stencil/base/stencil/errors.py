"""What can be wrong with a template."""


class TemplateError(ValueError):
    """A template that cannot be read; says in which line."""

    def __init__(self, line, message):
        super().__init__(f"line {line}: {message}")
        self.line = line
