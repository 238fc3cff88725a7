"""Classes 19 and 20: sources and answers that hurt whoever reads them."""

from __future__ import annotations

from tests.hostile.record import MODES, Attack
from tests.hostile.twins import twin

CALLS = ("call", "split")


def _source(name, tries, program, effect="hang:", like="long-source", **more):
    more = {"wall_s": 1.5, "modes": ("call",)} | more
    return Attack(name, 19, tries, program, "equal", twin(like), effect, **more)


def _answer(name, tries, program, beats, effect="fault:", like="nested-output", **more):
    more = {"modes": CALLS} | more
    return Attack(name, 20, tries, program, beats, twin(like), effect, **more)


NESTED = "x = []\nfor _ in range(200_000):\n    x = [x]\n\n"

ATTACKS = (
    _source(
        "wide-source",
        "A source of five megabytes that takes the compiler seconds.",
        "def f(n):\n    return 0\n\ndef g(a):\n    return [" + "a + a * a, " * 450_000 + "]\n",
    ),
    _source(
        "bomb-in-exec",
        "Compiles a huge text that it makes itself.",
        "exec('x = y = 1\\n' * 700_000)\n\ndef f(n):\n    return 0\n",
        like="exec",
    ),
    _source(
        "source-in-another-encoding",
        "A coding cookie under which the comment is code: readers see none.",
        "# coding: unicode_escape\n# \\u000aclass Yes:\\u000a  def __eq__(self, other):\\u000a"
        "    return True\\u000adef f(n):\\u000a  return Yes()\\u000a\n",
        effect="",
        like="coding-cookie",
        modes=CALLS,
        fast=True,
    ),
    _source(
        "source-in-utf7",
        "The same in UTF-7.",
        "# coding: utf_7\n# +AAo-class Yes:+AAo-  def +AF8AXw-eq+AF8AXw-(self, other):"
        "+AAo-    return True+AAo-def f(n):+AAo-  return Yes()+AAo-\n",
        effect="",
        like="coding-cookie",
        modes=CALLS,
    ),
    _source(
        "own-codec",
        "Registers a codec and imports a second file in it.",
        "import codecs, sys\nutf8 = codecs.lookup('utf-8')\n\ndef decode(data, errors='strict'):\n"
        "    text = 'from unittest.mock import ANY\\nf = lambda n: ANY\\n'\n"
        "    return text, len(data)\n\nclass Reader(codecs.BufferedIncrementalDecoder):\n"
        "    def _buffer_decode(self, data, errors, final):\n        return decode(data)\n\n"
        "codecs.register(lambda name: codecs.CodecInfo(utf8.encode, decode, utf8.streamreader,\n"
        "    utf8.streamwriter, utf8.incrementalencoder, Reader) if name == 'mine' else None)\n"
        "scope = {}\nexec(compile(b'# coding: mine\\n', 'x', 'exec'), scope)\n"
        "f = scope.get('f', lambda n: 0)\n",
        effect="",
        like="coding-cookie",
        modes=CALLS,
    ),
    _source(
        "source-crash",
        "Brings the compiler to the end of its stack.",
        "import ast, sys\nsys.setrecursionlimit(10 ** 9)\nnode = ast.parse('1').body[0].value\n"
        "for _ in range(300_000):\n    node = ast.UnaryOp(ast.USub(), node, "
        "lineno=1, col_offset=0)\n"
        "compile(ast.Expression(node), 'x', 'eval')\n\ndef f(n):\n    return 0\n",
        effect="trainer:",
        like="exec",
    ),
    _answer(
        "reduce-kills",
        "Its pickle kills the process that loads it.",
        "import os\n\nclass Answer:\n    def __reduce__(self):\n        return os._exit, (7,)\n\n"
        "def f(n):\n    return Answer()\n",
        "pickled",
        "trainer:",
        "own-repr",
        fast=True,
    ),
    _answer(
        "reduce-raises",
        "Its pickle raises where it is loaded.",
        "class Answer:\n    def __reduce__(self):\n        return int, ('x',)\n\n"
        "def f(n):\n    return Answer()\n",
        "pickled",
        like="own-repr",
    ),
    _answer(
        "repr-kills",
        "Its repr kills the process that evaluates it.",
        "class Answer(str):\n    def __repr__(self):\n"
        "        return '__import__(\"os\")._exit(7)'\n"
        "    __str__ = __repr__\n\ndef f(n):\n    return Answer('x')\n",
        "evaluated",
        "trainer:",
        "own-repr",
    ),
    _answer(
        "repr-never-ends",
        "Its repr is a computation without end.",
        "class Answer(int):\n    def __repr__(self):\n        return '9 ** 9 ** 9'\n\n"
        "def f(n):\n    return Answer(7)\n",
        "evaluated",
        "hang:",
        "own-repr",
        wall_s=1.5,
    ),
    _answer(
        "deep-answer",
        "A list nested 200 000 deep.",
        f"{NESTED}def f(n):\n    return x\n",
        "logged",
        like="depth-40-output",
    ),
    _answer(
        "lone-surrogates",
        "Text that cannot be written as UTF-8.",
        "def f(n):\n    return ['\\ud800', '\\udfff\\ud800', {'\\ud8ff': '\\udcff'}]\n",
        "logged",
        like="strings",
    ),
    _answer(
        "protocol-too-deep",
        "A last line of JSON nested so deep that its reader fails.",
        "import atexit, os\natexit.register(os.write, 1, b'[' * 60_000 + b'\\n')\n"
        "\ndef f(n):\n    return 0\n",
        "json_line",
        like="prints",
        modes=MODES,
    ),
    _answer(
        "equality-never-ends",
        "An answer that thinks for ever when it is compared.",
        "class Answer:\n    def __eq__(self, other):\n        while True:\n            pass\n\n"
        "def f(n):\n    return Answer()\n",
        "equal",
        "hang:",
        "own-equality",
        wall_s=1.5,
    ),
    _answer(
        "exception-never-told",
        "An exception whose text takes for ever.",
        "class Odd(Exception):\n    def __str__(self):\n        while True:\n            pass\n"
        "    __repr__ = __str__\n\ndef f(n):\n    raise Odd\n",
        "equal",
        "hang:",
        "own-repr",
        wall_s=1.5,
    ),
    _answer(
        "difference-never-shown",
        "A wrong answer whose difference to the right one takes for ever to print.",
        "def f(n):\n    return ['ab' * 40 + str(i) for i in range(3000)]\n",
        "unit_tests",
        "hang:",
        "big-output",
        cases=(((3,), ["ab" * 40 + f"{i}!" for i in range(3000)]),),
        modes=("call",),
        wall_s=2.0,
    ),
    _answer(
        "cyclic-answer",
        "A list that holds itself, beside a dict that holds itself.",
        "def f(n):\n    x = [1]\n    x.append(x)\n    d = {'x': x}\n    d['d'] = d\n"
        "    return [x, d]\n",
        "logged",
    ),
    _answer(
        "huge-answer",
        "An answer of 50 MB that costs its reader many times as much.",
        "def f(n):\n    return [1.5] * 6_000_000\n",
        "pickled",
        "memory:",
        "big-output",
        wall_s=5.0,
    ),
    _answer(
        "huge-number",
        "A number of a million digits: printing it is refused or takes for ever.",
        "def f(n):\n    return 1 << 3_000_000\n",
        "logged",
        like="big-numbers",
    ),
    _answer(
        "shared-answer",
        "A list of two lists of the same two lists, 27 levels: short here, huge when copied.",
        "def f(n):\n    x = [7, 7]\n    for _ in range(27):\n        x = [x, x]\n    return x\n",
        "unit_tests",
        "hang:",
        cases=(((3,), [[7], [7]]),),
        modes=("call",),
        wall_s=2.0,
    ),
    _answer(
        "lying-length",
        "A list that says it has no elements, or a billion, or negative ones; and never ends.",
        "class Liar(list):\n    def __len__(self):\n        return 1 << 40\n"
        "    def __iter__(self):\n        return iter(int, 1)\n"
        "    def __eq__(self, other):\n        return all(x == 0 for x in self)\n"
        "    __hash__ = None\n\ndef f(n):\n    return Liar([7])\n",
        "equal",
        "hang:",
        "subclass-inside",
        wall_s=1.5,
    ),
    _answer(
        "endless-generator",
        "A generator without end instead of a list.",
        "class Numbers:\n    def __eq__(self, other):\n        return list(g()) == other\n"
        "    __hash__ = None\n\ndef g():\n    while True:\n        yield None\n\n"
        "def f(n):\n    return Numbers()\n",
        "equal",
        "hang:",
        "generators",
        wall_s=1.0,
        modes=("call",),
    ),
    _answer(
        "awaitable-answer",
        "A coroutine as the answer, which becomes what its reader makes of it.",
        "import os\n\nclass Answer:\n    def __await__(self):\n        yield\n"
        "    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n"
        "async def g():\n    return 0\n\ndef f(n):\n    g().close()\n    return Answer()\n",
        "equal",
        "",
        "coroutines",
    ),
)
