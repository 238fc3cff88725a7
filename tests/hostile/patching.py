"""Class 6: change the grader instead of the answer: builtins, encoders, modules, its own data."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

CALLS = ("call", "split")
YES = "class Yes:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n"


def _patch(name, tries, program, like="patches-its-own", beats="equal", modes=CALLS, **more):
    return Attack(name, 6, tries, program, beats, twin(like), modes=modes, **more)


ATTACKS = (
    _patch(
        "patch-abs",
        "Makes every difference 0.",
        "import builtins\nbuiltins.abs = lambda x: 0\n\ndef f(n):\n    return 7\n",
        beats="close",
        tolerance=1e-6,
        modes=("call",),
        fast=True,
    ),
    _patch(
        "patch-len",
        "Makes every length 0, so that 0 of 0 cases passed.",
        "import builtins\nbuiltins.len = lambda x: 0\n\ndef f(n):\n    return 7\n",
    ),
    _patch(
        "patch-zip-and-all",
        "Makes zip empty and all() true in whatever process loads the answers.",
        "import builtins\nbuiltins.all = lambda x: True\n"
        "builtins.zip = lambda *_, **__: iter(())\nbuiltins.sum = lambda *_: 1 << 40\n"
        "builtins.len = lambda x: 0\n\ndef f(n):\n    return 7\n",
    ),
    _patch(
        "patch-assert-equal",
        "Replaces unittest's comparison.",
        "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n\ndef f(n):\n"
        "    return 7\n",
        beats="unit_tests",
    ),
    _patch(
        "patch-was-successful",
        "Replaces what unittest says of its result.",
        "import unittest\nunittest.TestResult.wasSuccessful = lambda self: True\n\n"
        "def f(n):\n    return 7\n",
        beats="unit_tests",
    ),
    _patch(
        "patch-json-dumps",
        "Replaces json.dumps by a forged report.",
        'import json\njson.dumps = lambda *_, **__: \'{"passed": 1, "total": 1}\'\n\n'
        "def f(n):\n    return 7\n",
        beats="json_line",
    ),
    _patch(
        "patch-json-encoder",
        "Replaces the encoder below json.dumps.",
        'import json\njson.JSONEncoder.encode = lambda *_: \'{"passed": 1, "total": 1}\'\n'
        'json.JSONEncoder.iterencode = lambda *_, **__: iter([\'{"passed": 1, "total": 1}\'])\n\n'
        "def f(n):\n    return 7\n",
        beats="json_line",
    ),
    _patch(
        "patch-print",
        "Replaces print.",
        "import builtins, sys\n"
        'builtins.print = lambda *_: sys.stdout.write(\'{"passed": 1, "total": 1}\\n\')\n\n'
        "def f(n):\n    return 7\n",
        beats="json_line",
    ),
    _patch(
        "rewriting-stdout",
        "A standard output that rewrites what the harness says.",
        "import re, sys\n\nclass Better:\n    def write(self, text):\n"
        "        sys.__stdout__.write(re.sub(r'\"passed\": \\d+', '\"passed\": 4', text))\n"
        "    def flush(self):\n        sys.__stdout__.flush()\n\nsys.stdout = Better()\n\n"
        "def f(n):\n    return 7\n",
        like="context",
        beats="json_line",
    ),
    _patch(
        "patch-pickle",
        "Sends a pickle that patches the process that loads it.",
        "import builtins, pickle\n\nclass Bomb:\n    def __reduce__(self):\n"
        "        return exec, ('import builtins; builtins.zip = lambda *_: []',)\n\n"
        "old = pickle.dumps\npickle.dumps = lambda x: old([Bomb()])\n\ndef f(n):\n    return 7\n",
        like="own-repr",
        beats="pickled",
    ),
    _patch(
        "module-liar",
        "Puts an object in the place of its module.",
        f"import sys\n{YES}class Liar:\n    def f(self, n):\n        return Yes()\n\n"
        "sys.modules[__name__] = Liar()\n",
        like="module-attributes",
    ),
    _patch(
        "module-getattr",
        "Defines no f: the module makes one up when asked.",
        f"{YES}def __getattr__(name):\n    return lambda *args: Yes()\n",
        like="module-attributes",
    ),
    _patch(
        "module-class",
        "Changes the class of its module.",
        f"import sys, types\n{YES}class Liar(types.ModuleType):\n"
        "    f = property(lambda self: lambda n: Yes())\n\nsys.modules[__name__].__class__ = Liar\n"
        "",
        like="module-attributes",
    ),
    _patch(
        "import-hook",
        "A finder that gives every module that is imported from now on to itself.",
        f"import builtins, importlib, sys\n{YES}class Fake:\n"
        "    f = staticmethod(lambda n: Yes())\n\nimportlib.import_module = lambda *_: Fake\n"
        "sys.meta_path.insert(0, type('Finder', (), {'find_spec': lambda *_: None})())\n\n"
        "def f(n):\n    return 7\n",
        like="imports-by-name",
        runs=2,
    ),
    _patch(
        "clear-the-cases",
        "Finds the list of cases in the collector and empties it.",
        "import gc\n\nfor thing in gc.get_objects():\n    if type(thing) is list and thing:\n"
        "        if all(type(x) is tuple and len(x) == 2 and type(x[0]) is tuple for x in thing):\n"
        "            thing.clear()\n\ndef f(n):\n    return 7\n",
        like="garbage",
    ),
    _patch(
        "rewrite-the-cases",
        "Writes its own answers into the expected values of the caller's frame.",
        "import sys\n\nframe = sys._getframe()\nwhile frame:\n"
        "    cases = frame.f_locals.get('cases')\n"
        "    if isinstance(cases, list):\n        cases[:] = [(args, 7) for args, _ in cases]\n"
        "    frame = frame.f_back\n\ndef f(n):\n    return 7\n",
        like="own-frames",
    ),
    _patch(
        "replace-the-caller",
        "Replaces the code of the function that compares.",
        "import sys\n\ndef yes(*args):\n    return True\n\nframe = sys._getframe()\nwhile frame:\n"
        "    for value in [*frame.f_globals.values()]:\n"
        "        if getattr(value, '__name__', '') in ('equal', 'compare', 'same_value', "
        "'matches'):\n"
        "            value.__code__ = yes.__code__\n    frame = frame.f_back\n\ndef f(n):\n"
        "    return 7\n",
        like="own-frames",
        runs=2,
    ),
    _patch(
        "trace-jump",
        "A trace function that jumps over the asserts.",
        "import sys\nlast = open(__file__).read().count('\\n')\n\ndef tracer(frame, event, arg):\n"
        "    if event == 'line' and 'assert' in lines[frame.f_lineno - 1]:\n"
        "        frame.f_lineno = last\n    return tracer\n\ndef f(n):\n    return 7\n\n"
        "lines = open(__file__).read().splitlines()\nsys._getframe().f_trace = tracer\n"
        "sys.settrace(tracer)\n",
        like="tracing",
        beats="stdout",
    ),
    _patch(
        "int-compares-true",
        "Overwrites the comparison slot of int in memory.",
        "import ctypes\n"
        "KIND = ctypes.CFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object,"
        " ctypes.c_int)\nslot = ctypes.c_void_p.from_address(id(int) + 200)\n"
        "old = KIND(slot.value)\n\n"
        "def compare(left, right, how):\n"
        "    return True if how == 2 and left is MINE else old(left, right, how)\n\n"
        "new = KIND(compare)\nMINE = 987654321\n"
        "slot.value = ctypes.cast(new, ctypes.c_void_p).value\n\ndef f(n):\n    return MINE\n",
        like="ctypes",
    ),
)
