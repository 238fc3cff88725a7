"""The answers of `solutions/NAME.py`, put into a notebook's stubs.

Stage: outside the loop. In: a solutions file and a cell with stubs; out: the cell with each stub's
body between BEGIN and END SOLUTION. A stub's signature and docstring stay the notebook's. What an
answer uses of its file, imports and helping functions, moves into the function.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.classroom.notebooks import ClassroomError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def stubs(tree: ast.Module) -> list[ast.FunctionDef]:
    """The functions of a cell that only raise NotImplementedError."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_stub(node)]


@dataclass(frozen=True)
class Answers:
    """The functions of one solutions file."""

    file: str
    """Its name, for messages."""
    lines: tuple[str, ...]
    """Its text."""
    defined: dict[str, ast.stmt]
    """What each name at its top level is."""

    @classmethod
    def of(cls, path: Path) -> Answers:
        """The answers in `path`; none if there is no such file.

        Raises ClassroomError if it is not Python.
        """
        try:
            text = path.read_text("utf-8") if path.exists() else ""
            body = ast.parse(text).body
        except (OSError, SyntaxError, ValueError) as error:
            raise ClassroomError(f"{path.name}: cannot be read ({error})")
        defined: dict[str, ast.stmt] = {}
        for node in body:
            for name in _names_bound(node):
                defined[name] = node
        return cls(path.name, tuple(text.split("\n")), defined)

    def fill(self, source: str) -> str:
        """`source` with the body of every stub replaced by its answer.

        Raises ClassroomError if a stub has no answer, its answer takes other arguments, or what
        comes out is not Python.
        """
        lines = source.split("\n")
        for stub in reversed(stubs(ast.parse(source))):
            first = self._first_of(stub, lines)
            indent = " " * first.col_offset
            region = [indent + BEGIN, *self._region(stub, first.col_offset), indent + END]
            lines[first.lineno - 1 : stub.end_lineno] = region
        filled = "\n".join(lines)
        try:
            compile(filled, self.file, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise ClassroomError(f"{self.file}: filled in, it is not Python ({error})")
        return filled

    def _first_of(self, function: ast.FunctionDef, lines: Sequence[str]) -> ast.stmt:
        """The first statement of a body. Raises ClassroomError if it has no line of its own."""
        body = _without_docstring(function)
        if not body:
            raise ClassroomError(f"{self.file}: `{function.name}` has nothing but a docstring")
        if lines[body[0].lineno - 1][: body[0].col_offset].strip():
            raise ClassroomError(
                f"{self.file}: `{function.name}`: write its body on lines of its own"
            )
        return body[0]

    def _region(self, stub: ast.FunctionDef, indent: int) -> list[str]:
        """The answer's body, `indent` deep, after what it uses of its file."""
        answer = self.defined.get(stub.name)
        if not isinstance(answer, ast.FunctionDef):
            raise ClassroomError(f"{self.file}: has no answer to the exercise `{stub.name}`")
        if ast.dump(stub.args) != ast.dump(answer.args):
            raise ClassroomError(f"{self.file}: `{stub.name}` takes other arguments than its stub")
        first = self._first_of(answer, self.lines)
        moved = []
        for node in self._needed_by(answer):
            start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            moved += self._moved(node, start, indent)
        return moved + self._moved(answer, first.lineno, indent - first.col_offset)

    def _moved(self, node: ast.stmt, start: int, by: int) -> list[str]:
        """The lines of a statement from `start` on, `by` further right; texts stay as they are."""
        inside = {
            number
            for part in ast.walk(node)
            if isinstance(part, ast.JoinedStr)
            or (isinstance(part, ast.Constant) and isinstance(part.value, str | bytes))
            for number in range(part.lineno + 1, part.end_lineno + 1)
        }
        lines = list(self.lines[start - 1 : node.end_lineno])
        for number, line in enumerate(lines, start):
            depth = len(line) - len(line.lstrip())
            if number not in inside and line.strip():
                lines[number - start] = " " * max(0, depth + by) + line[depth:]
        return lines

    def _needed_by(self, answer: ast.FunctionDef) -> list[ast.stmt]:
        """Top-level statements that the answer uses, also through one another, in file order."""
        needed: set[int] = set()
        todo: list[ast.stmt] = [answer]
        while todo:
            for node in ast.walk(todo.pop()):
                other = self.defined.get(node.id) if isinstance(node, ast.Name) else None
                if other is not None and other is not answer and other.lineno not in needed:
                    needed.add(other.lineno)
                    todo.append(other)
        by_line = {node.lineno: node for node in self.defined.values()}
        return [by_line[line] for line in sorted(needed)]


def _is_stub(function: ast.FunctionDef) -> bool:
    body = _without_docstring(function)
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    raised = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _without_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def _names_bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.target.id] if isinstance(node, ast.AnnAssign) else []
