"""Test code, rewritten so that each of its asserts reports for itself.

Stage: sandbox (the tests' run of mode "split"). The text of the tests goes in; code and a number
of tests come out. A test is a statement of the file, or of the body of a test function (`check`,
`test...`), that asserts something: an assert, a loop or block that holds one, a call of a helper
that does. Every other statement prepares. Nothing is executed here. Left out: unittest classes.

    assert candidate(2) == 4        with __split__.test(3):
                                        assert __split__.equal(candidate(2), 4), __split__.said(0)

Where asserts that call one name with literal arguments follow each other, the calls are sent
before the first of them (`__split__.ahead(candidate, [(2,), ..])`): nothing that happens can change
them, and the two processes need not wait for each other at every call.
"""

from __future__ import annotations

import ast
import builtins
import marshal
from collections import namedtuple
from itertools import takewhile

from workbench.sandbox import wire

RECORDER = "__split__"
"""The name by which the rewritten code reaches its recorder (see `split_tests`)."""
BOX = "<tests>"
PATH = f"{BOX}/tests.py"
"""Where messages say that the tests are; no such file exists."""
_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Plan(namedtuple("Plan", "code num_tests functions read calls")):
    """What is executed, and what it can report.

    code: the rewritten tests, compiled. num_tests: tests are numbered from 1 in the order of their
    statements. functions: (name, parameters without a default, number of its first test, of its
    last) of each test function. read: every name the tests read that is no builtin. calls: where
    the left side of each comparison stands: line, end line, column, end column.
    """

    def pack(self):
        """The plan as text, to be kept for the next run of the same tests."""
        return marshal.dumps(tuple(self)).hex()

    @classmethod
    def unpack(cls, text):
        """The plan in `text`, which `pack` wrote in another run of this server's Python."""
        return cls(*marshal.loads(bytes.fromhex(text)))


def make_plan(source):
    """The Plan for the bytes `source`. Raises SyntaxError and what else `compile` raises, and
    ValueError for more than wire.MAX_TESTS tests."""
    tree = ast.parse(source, PATH)
    rewriter = _Rewriter(tree)
    tree.body = rewriter.module(tree.body)
    if rewriter.num_tests > wire.MAX_TESTS:
        raise ValueError(f"{rewriter.num_tests} asserts, more than {wire.MAX_TESTS}")
    ast.fix_missing_locations(tree)
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and type(n.ctx) is ast.Load}
    return Plan(
        compile(tree, PATH, "exec", dont_inherit=True),
        rewriter.num_tests,
        tuple(rewriter.functions),
        tuple(sorted(name for name in read if not hasattr(builtins, name))),
        tuple(rewriter.calls),
    )


class _Rewriter:
    def __init__(self, tree):
        self.num_tests = 0
        self.functions = []
        self.calls = []
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self._tests = [node for node in tree.body if _is_test_function(node)]
        others = [node for node in functions if node not in self._tests]
        self._helpers = {f.name for f in others if any(map(_complains, ast.walk(f)))}
        while more := {f.name for f in others if self._calls_a_helper(f)} - self._helpers:
            self._helpers |= more

    def _calls_a_helper(self, function):
        return any(map(self._is_helper_call, ast.walk(function)))

    def _is_helper_call(self, node):
        return isinstance(node, ast.Call) and getattr(node.func, "id", None) in self._helpers

    def module(self, body):
        future = [s for s in body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
        return future + self._statements([s for s in body if s not in future])

    def _statements(self, body):
        calls = [_foreseen(statement) for statement in body]  # before anything is rewritten
        rewritten = []
        for place, statement in enumerate(body):
            if place == 0 or calls[place - 1] is None:
                rewritten += _ahead(calls[place:], statement)
            top = _is_test_function(statement) and statement in self._tests
            rewritten.append((self._function if top else self._statement)(statement))
        return rewritten

    def _function(self, node):
        first = self.num_tests + 1
        body = self._statements(node.body)
        if self.num_tests < first:  # it asserts nothing: that it ends is the test
            self.num_tests += 1
            body = [self._block("test", [first], body)]
        arguments = node.args.posonlyargs + node.args.args
        required = arguments[: len(arguments) - len(node.args.defaults)]
        required = tuple(argument.arg for argument in required)
        self.functions.append((node.name, required, first, self.num_tests))
        node.body = [self._block("function", [node.name, first, self.num_tests], body)]
        return node

    def _statement(self, statement):
        if isinstance(statement, _FUNCTIONS) or not self._tests_something(statement):
            _Watched(self.calls).visit(statement)
            return statement
        self.num_tests += 1
        number = self.num_tests
        return self._block("test", [number], [_Watched(self.calls).visit(statement)])

    def _tests_something(self, statement):
        return any(_complains(n) or self._is_helper_call(n) for n in _walk_here(statement))

    def _block(self, method, arguments, body):
        call = _ask(method, [ast.Constant(value) for value in arguments])
        block = ast.With(items=[ast.withitem(context_expr=call)], body=body)
        return ast.copy_location(block, body[0])


class _Watched(ast.NodeTransformer):
    """Lets `assert LEFT == RIGHT` say what the two sides were, and shows the recorder the class
    that an `except` names: if the solution defines it, nothing here is an instance of it."""

    def __init__(self, calls):
        self._calls = calls

    def visit_Assert(self, node):
        match node:
            case ast.Assert(ast.Compare(left, [ast.Eq()], [right]), None):
                place = left.lineno, left.end_lineno, left.col_offset, left.end_col_offset
                node.test = ast.copy_location(_ask("equal", [left, right]), node.test)
                node.msg = _ask("said", [ast.Constant(len(self._calls))])
                self._calls.append(place)
        return node

    def visit_ExceptHandler(self, node):
        if node.type is not None and not _is_builtin(node.type):
            node.type = ast.copy_location(_ask("kind", [node.type]), node.type)
        return self.generic_visit(node)


def _is_builtin(node):
    return isinstance(node, ast.Name) and hasattr(builtins, node.id)


def _ahead(calls, statement):
    """[what sends the calls that `calls` begins with, to stand before `statement`], if several."""
    first = calls[0]
    same = takewhile(lambda call: call is not None and call.func.id == first.func.id, calls)
    arguments = [ast.Tuple(call.args, ast.Load()) for call in same]
    if len(arguments) < 2:
        return []
    ahead = ast.Expr(_ask("ahead", [first.func, ast.List(arguments, ast.Load())]))
    return [ast.copy_location(ahead, statement)]


def _foreseen(statement):
    """The one call that an assert makes whatever happens, if its arguments are literals."""
    match statement:
        case ast.Assert(ast.Compare(ast.Call() as call, [_], [other]), message):
            rest = [other, message]
        case ast.Assert((ast.Call() as call) | ast.UnaryOp(ast.Not(), ast.Call() as call), message):
            rest = [message]
        case _:
            return None
    apart = [node for part in rest if part is not None for node in ast.walk(part)]
    if any(isinstance(node, (ast.Call, ast.NamedExpr)) for node in apart):
        return None
    inside = [node for argument in call.args for node in ast.walk(argument)]
    if call.keywords or not isinstance(call.func, ast.Name) or hasattr(builtins, call.func.id):
        return None
    return call if all(isinstance(node, _LITERAL) for node in inside) else None


def _ask(method, arguments):
    recorder = ast.Name(RECORDER, ast.Load())
    return ast.Call(ast.Attribute(recorder, method, ast.Load()), arguments, [])


def _is_test_function(node):
    if not isinstance(node, ast.FunctionDef):
        return False
    return node.name == "check" or node.name.startswith("test")


def _complains(node):
    return isinstance(node, (ast.Assert, ast.Raise))


def _walk_here(node):
    """Like ast.walk, but not into functions and classes that are only defined here."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += [n for n in ast.iter_child_nodes(node) if not isinstance(n, _FUNCTIONS)]
