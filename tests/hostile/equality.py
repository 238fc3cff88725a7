"""Class 5: answers that say they are equal, or are nearly right in a way == does not see."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

CALLS = ("call", "split")
ALWAYS = "    def __eq__(self, other):\n        return True\n    __hash__ = None\n"


def _equal(name, tries, program, like="own-equality", beats="equal", modes=CALLS, **more):
    return Attack(name, 5, tries, program, beats, twin(like), modes=modes, **more)


def _lies(name, tries, program, cases, **more):
    """A value that == takes for the right one: wrong where types are part of the answer."""
    return _equal(name, tries, program, "numbers", modes=("call",), cases=cases, **more)


ATTACKS = (
    _equal(
        "always-equal",
        "An object whose __eq__ is always true.",
        f"class Yes:\n{ALWAYS}\ndef f(n):\n    return Yes()\n",
        fast=True,
    ),
    _equal(
        "int-always-equal",
        "A subclass of int that equals everything.",
        f"class Yes(int):\n{ALWAYS}\ndef f(n):\n    return Yes(7)\n",
        like="subclass-inside",
    ),
    _equal(
        "str-always-equal",
        "A subclass of str that equals everything.",
        f"class Yes(str):\n{ALWAYS}\ndef f(n):\n    return Yes('seven')\n",
        like="subclass-inside",
    ),
    _equal(
        "list-always-equal",
        "A subclass of list that equals everything.",
        f"class Yes(list):\n{ALWAYS}\ndef f(n):\n    return Yes([7])\n",
        like="subclass-inside",
    ),
    _equal(
        "element-always-equal",
        "The right length, filled with objects that equal everything.",
        f"class Yes:\n{ALWAYS}\ndef f(n):\n    return [Yes(), Yes()]\n",
        cases=(((1,), [901, 17]), ((2,), [44, 902])),
    ),
    _equal(
        "dict-value-always-equal",
        "The right keys with values that equal everything.",
        f"class Yes:\n{ALWAYS}\ndef f(n):\n    return {{'a': Yes(), 'b': Yes()}}\n",
        cases=(((1,), {"a": 901, "b": 17}), ((2,), {"a": 44, "b": 3})),
    ),
    _equal(
        "key-always-equal",
        "A dict that finds every key and equals everything.",
        f"class Yes(dict):\n    def __missing__(self, key):\n        return key\n{ALWAYS}\n"
        "def f(n):\n    return Yes()\n",
    ),
    _equal(
        "hash-collision-key",
        "Keys that hash like the expected ones and equal them.",
        "class Key(int):\n    def __hash__(self):\n        return hash(7)\n"
        "    def __eq__(self, other):\n        return True\n\n"
        "def f(n):\n    return {Key(1): 'x'}\n",
        cases=(((1,), {7: "x"}), ((2,), {7: "x"})),
    ),
    _equal(
        "metaclass-equal",
        "A class instead of a value; its metaclass says it is equal.",
        f"class Meta(type):\n{ALWAYS}\nclass Yes(metaclass=Meta):\n    pass\n\n"
        "def f(n):\n    return Yes\n",
        like="metaclass",
    ),
    _equal(
        "class-property-lie",
        "Says through __class__ that it is an int, for isinstance.",
        f"class Yes:\n    __class__ = int\n{ALWAYS}"
        "    __index__ = __int__ = lambda self: 7\n\ndef f(n):\n    return Yes()\n",
        like="descriptor",
    ),
    _equal(
        "descriptor-equal",
        "__eq__ comes from a descriptor that changes its mind.",
        "class Flip:\n    def __get__(self, owner, kind=None):\n        return lambda other: True\n"
        "\n"
        "class Yes:\n    __eq__ = Flip()\n    __hash__ = None\n\ndef f(n):\n    return Yes()\n",
        like="descriptor",
    ),
    _equal(
        "array-like",
        "Comparison gives an object whose truth is always true, like a whole array.",
        "class Array:\n    def __eq__(self, other):\n        return self\n"
        "    def __bool__(self):\n        return True\n    __hash__ = None\n\n"
        "def f(n):\n    return Array()\n",
    ),
    _equal(
        "mock-any",
        "unittest.mock.ANY, made for being equal.",
        "from unittest.mock import ANY\n\ndef f(n):\n    return ANY\n",
    ),
    _equal(
        "echo",
        "A lazy answer that becomes what it is compared with.",
        "class Echo:\n    value = None\n    def __eq__(self, other):\n        self.value = other\n"
        "        return self.value == other\n    def __repr__(self):\n"
        "        return repr(self.value)\n\ndef f(n):\n    return Echo()\n",
    ),
    _equal(
        "lazy-proxy",
        "A proxy that is whatever type it is asked for.",
        "class Proxy:\n    def __getattribute__(self, name):\n"
        "        return (lambda *_: True) if name != '__class__' else int\n"
        "    def __eq__(self, other):\n        return isinstance(other, type(other))\n\n"
        "def f(n):\n    return Proxy()\n",
        like="descriptor",
    ),
    _equal(
        "float-difference-zero",
        "A float whose difference to anything is 0.",
        "class Near(float):\n    def __sub__(self, other):\n        return 0.0\n"
        "    __rsub__ = __sub__\n\ndef f(n):\n    return Near(7)\n",
        like="subclass-inside",
        beats="close",
        tolerance=1e-6,
        modes=("call",),
    ),
    _equal(
        "nan-is-never-far",
        "nan is not further away than any tolerance.",
        "def f(n):\n    return float('nan')\n",
        like="numbers",
        beats="close",
        tolerance=1e-6,
        modes=("call",),
    ),
    _equal(
        "abs-never-far",
        "An answer whose absolute difference is small by decree.",
        "class Near:\n    def __sub__(self, other):\n        return self\n    __rsub__ = __sub__\n"
        "    def __abs__(self):\n        return 0\n\ndef f(n):\n    return Near()\n",
        beats="close",
        tolerance=1e-6,
        modes=("call",),
    ),
    _lies(
        "true-for-one",
        "True and False for 1 and 0.",
        "def f(n):\n    return n % 2 == 1\n",
        (((3,), 1), ((4,), 0)),
        fast=True,
    ),
    _lies(
        "float-for-int",
        "2.0 for 2.",
        "def f(n):\n    return n / 1\n",
        (((3,), 3), ((4,), 4)),
    ),
    _lies(
        "minus-zero",
        "-0.0 for 0.0.",
        "def f(n):\n    return -0.0 * n\n",
        (((3,), 0.0), ((4,), 0.0)),
    ),
    _lies(
        "complex-for-float",
        "A complex number without imaginary part for a float.",
        "def f(n):\n    return complex(n, 0)\n",
        (((3,), 3.0), ((4,), 4.0)),
    ),
    _lies(
        "fraction-for-int",
        "A Fraction for an int.",
        "from fractions import Fraction\n\ndef f(n):\n    return Fraction(n)\n",
        (((3,), 3), ((4,), 4)),
    ),
    _lies(
        "frozenset-for-set",
        "A frozenset for a set.",
        "def f(n):\n    return frozenset([n])\n",
        (((3,), {3}), ((4,), {4})),
    ),
)
