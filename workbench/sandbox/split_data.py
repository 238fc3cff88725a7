"""Arguments and answers of one call between the tests and a solution, as data that keeps identity.

Stage: sandbox (both runs of mode "split"). `encoding` with one addition: each list, dict, set and
bytearray has a number, so that the solution's changes to its arguments come back into the very
objects that the tests hold, and a list that is there twice is one list on the other side too.
Left out: identity from one call to the next, and of what the solution keeps for itself.

    {"list": [number, item, ..]}   {"dict": [number, [key, value], ..]}
    {"set": [number, item, ..]}    {"bytearray": [number, "hex"]}       {"same": number}
    {"tuple": [item, ..]}          everything else as `encoding` writes it
"""

from __future__ import annotations

import json
import struct

from workbench import encoding

HEAD = struct.Struct("!QI")
"""Before each message: the number of the call, chosen at random by the tests; bytes in the body."""
LOADED = HEAD.pack(0, 0)
"""The solution's first message."""
MAX_ANSWER_BYTES = encoding.MAX_BYTES
"""A larger answer is not read."""

_CHANGING = (list, dict, set, bytearray)
_SMALL = 1 << 53
_AS_SENT = frozenset({int, str, float, bool, type(None)})


class Objects:
    """The numbered objects of one call, as one side knows them."""

    def __init__(self, known=(), flatten=False):
        """known: objects with the numbers 0, 1, ..; flatten: as `encoding.encode` has it."""
        self.known = list(known)
        self._given = len(self.known)
        self._flatten = flatten
        self._numbers = {id(one): number for number, one in enumerate(self.known)}
        self._open, self._done = set(), set()

    def write(self, value, room=encoding.MAX_DEPTH):
        """A JSON-able object that `read` turns back. Raises ValueError for what is no plain data or
        contains itself, encoding.TooLarge for what is nested too deep."""
        kind = self._kind(value)
        if kind is None:
            if self._flatten and (plain := encoding.without_numpy(value)) is not value:
                return self.write(plain, room)
            return encoding.encode(value, flatten=self._flatten)
        if room <= 0:
            limit = encoding.MAX_DEPTH
            raise encoding.TooLarge(f"expected at most {limit} nested containers, got more")
        if kind is tuple:
            return {"tuple": [self.write(item, room - 1) for item in tuple.__iter__(value)]}
        number = self._numbers.get(id(value))
        if number in self._open:
            raise ValueError(f"expected plain data, got a {kind.__name__} that contains itself")
        if number in self._done:
            return {"same": number}
        if number is None:
            number = self._numbers[id(value)] = len(self.known)
            self.known.append(value)  # and keeps it alive: its id must not be used again
        self._open.add(number)
        items = self._items(kind, value, room - 1)
        self._open.remove(number)
        self._done.add(number)
        return {kind.__name__: [number, *items]}

    def _kind(self, value):
        kind = type(value)
        if kind is tuple or kind in _CHANGING:
            return kind
        if self._flatten:
            return next((base for base in (tuple, *_CHANGING) if issubclass(kind, base)), None)
        return None

    def _items(self, kind, value, room):
        if kind is list:
            items = list.__iter__(value)
            return [x if type(x) is int and -_SMALL < x < _SMALL else self.write(x, room)
                    for x in items]  # fmt: skip
        if kind is bytearray:
            return [bytearray.hex(value)]
        if kind.__len__(value) > encoding.MAX_HASHED:
            limit = encoding.MAX_HASHED
            raise encoding.TooLarge(f"expected at most {limit} items in a {kind.__name__}")
        if kind is dict:
            pairs = dict.items(value)
            return [[self._hashed(key), self.write(item, room)] for key, item in pairs]
        return sorted((self._hashed(item) for item in set.__iter__(value)), key=json.dumps)

    def _hashed(self, value):
        return encoding.encode(value, flatten=self._flatten)

    def read(self, data):
        """The value that `write` described on the other side; known objects are changed in place.

        Raises ValueError, TypeError, KeyError or RecursionError for anything else. Safe on hostile
        input: built from built-in types only, and nothing in it contains itself.
        """
        if type(data) is not dict or len(data) != 1:
            if type(data) is list:
                raise ValueError("expected tagged data, got a bare list")
            return encoding.decode(data)
        ((tag, body),) = data.items()
        if tag == "same":
            if body not in self._done:
                raise ValueError(f"object {body!r:.20} is not complete")
            return self.known[body]
        if tag not in ("tuple", "list", "dict", "set", "bytearray"):
            return encoding.decode(data)
        if type(body) is not list:
            raise ValueError(f"tag {tag!r}: expected a list")
        if tag == "tuple":
            return tuple(self.read(item) for item in body)
        return self._read_changing(
            {"list": list, "dict": dict, "set": set}.get(tag, bytearray), body
        )

    def _read_changing(self, kind, body):
        number, *items = body
        if type(number) is not int or number in self._open or number in self._done:
            raise ValueError(f"object {number!r:.20} is there twice")
        if number == len(self.known):
            self.known.append(kind())
        elif not 0 <= number < self._given:
            raise ValueError(f"object {number} is not the next one")
        target = self.known[number]
        if type(target) is not kind:
            raise ValueError(f"object {number} is a {type(target).__name__}, not a {kind.__name__}")
        self._open.add(number)
        self._fill(target, kind, items)
        self._open.remove(number)
        self._done.add(number)
        return target

    def _fill(self, target, kind, items):
        if kind is list:
            target[:] = [x if type(x) in _AS_SENT else self.read(x) for x in items]
        elif kind is bytearray:
            (text,) = items
            target[:] = bytes.fromhex(text)
        elif len(items) > encoding.MAX_HASHED:
            raise ValueError(f"expected at most {encoding.MAX_HASHED} items, got {len(items)}")
        elif kind is dict:
            pairs = [(encoding.decode(key), self.read(item)) for key, item in items]
            target.clear()
            target.update(pairs)
        else:
            members = [encoding.decode(item) for item in items]
            target.clear()
            target.update(members)
        if kind in (dict, set) and len(target) != len(items):
            raise ValueError(f"expected {len(items)} different items, got {len(target)}")


def dump(message):
    """A message of JSON-able parts as bytes."""
    return _WRITER.encode(message).encode()


def parse(body):
    """The message in `body`. Raises ValueError, or RecursionError for very deep nesting."""
    return encoding.parse_json(bytes(body).decode(), _READER)


def _refuse(name):
    raise ValueError(f"expected tagged data, got the bare constant {name}")


_WRITER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_READER = json.JSONDecoder(parse_constant=_refuse)
