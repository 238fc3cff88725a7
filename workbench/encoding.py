"""Plain Python data as tagged JSON: the only form in which values cross a process border.

Stage: between tasks, sandbox and grading. A value goes in and a JSON-able object comes out;
`decode` turns it back, exact by type and value. Standard library only, because the sandbox's
server loads this file by its path. Left out, on purpose: pickle, objects of any other class,
identity (two references to one list come back as two lists).

    None, True, 7, 1.5, "text", [..]      as JSON has them
    {"tuple": [..]}  {"set": [..]}  {"frozenset": [..]}  {"dict": [[key, value], ..]}
    {"int": "0x.."}  beyond 2**53         {"float": "nan" | "inf" | "-inf"}
    {"complex": [real, imaginary]}        {"bytes": "hex"}  {"str": "hex"} with lone surrogates
"""

from __future__ import annotations

import json

MAX_DEPTH = 64
"""Containers nested deeper than this are refused, in both directions."""
MAX_BYTES = 1 << 20
"""`parse_bytes` refuses more than this many bytes before it looks at them."""
MAX_HASHED = 10_000
"""Most items in one set or dict: equal hashes are easy to choose and make building them slow."""


class TooLarge(ValueError):
    """Plain data, but more of it or nested deeper than is sent."""


_EXACT_INT = 1 << 53
_PLAIN = (list, tuple, dict, set, frozenset, str, int, float, bytes, complex)


def encode(value, *, flatten=False):
    """A JSON-able object that `decode` turns back into an equal value of equal type.

    Args:
        value: None, bool, int, float, complex, str, bytes, list, tuple, set, frozenset or dict,
            nested at most MAX_DEPTH deep.
        flatten: send an instance of a subclass (Counter, IntEnum, a named tuple) as its base
            type, read by the base type's own methods, a numpy scalar as the Python number it
            stands for, a numpy array as nested lists; otherwise they are refused.
    Raises:
        ValueError: for any other type, or nesting that is too deep.

    >>> encode({"a": (1, 2.5)})
    {'dict': [['a', {'tuple': [1, 2.5]}]]}
    """
    return _encode(value, flatten, MAX_DEPTH)


def _encode(value, flatten, room):
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind not in _PLAIN:
        if flatten and (plain := without_numpy(value)) is not value:
            return _encode(plain, False, room)
        kind = _base(value) if flatten else None
        if kind is None:
            raise ValueError(f"expected plain data, got {type(value).__name__}; send built-ins")
    if kind is int:
        return _encode_int(int.__int__(value))
    if kind is float:
        return _encode_float(float.__float__(value))
    if kind is str:
        return _encode_str(str.__str__(value))
    if kind is bytes:
        return {"bytes": bytes.hex(value)}
    if kind is complex:
        real, imaginary = complex.real.__get__(value), complex.imag.__get__(value)
        return {"complex": [_encode_float(real), _encode_float(imaginary)]}
    if room <= 0:
        raise TooLarge(f"expected at most {MAX_DEPTH} nested containers, got more (or a cycle)")
    if kind in (dict, set, frozenset) and kind.__len__(value) > MAX_HASHED:
        raise TooLarge(f"expected at most {MAX_HASHED} items in a {kind.__name__}, got more")
    if kind is dict:
        pairs = dict.items(value)
        return {"dict": [[_encode(x, flatten, room - 1) for x in pair] for pair in pairs]}
    items = [_encode(item, flatten, room - 1) for item in kind.__iter__(value)]
    if kind is list:
        return items
    if kind is not tuple:  # a set's order differs from process to process; the text must not
        items.sort(key=json.dumps)
    return {kind.__name__: items}


def without_numpy(value):
    """Nested lists for a numpy array, the Python value for a numpy scalar, else `value` itself."""
    kind = type(value)
    if kind.__module__ == "numpy" and hasattr(kind, "tolist"):
        return kind.tolist(value)
    return value


def _base(value):
    for kind in _PLAIN:
        if issubclass(type(value), kind):
            return kind
    return None


def _encode_int(value):
    return value if -_EXACT_INT <= value <= _EXACT_INT else {"int": hex(value)}


def _encode_float(value):
    if value != value:
        return {"float": "nan"}
    if value in (float("inf"), float("-inf")):
        return {"float": "inf" if value > 0 else "-inf"}
    return value


def _encode_str(value):
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        return {"str": value.encode("utf-8", "surrogatepass").hex()}
    return value


def decode(data):
    """The value that `encode` described; built from built-in types only.

    Raises ValueError if `data` is not what `encode` writes, is nested deeper than MAX_DEPTH,
    repeats a key, or holds a set or dict of more than MAX_HASHED items. Safe on hostile input.

    >>> decode({"dict": [["a", {"tuple": [1, 2.5]}]]})
    {'a': (1, 2.5)}
    """
    return _decode(data, MAX_DEPTH)


def _decode(data, room):
    kind = type(data)
    if data is None or kind in (bool, int, float, str):
        return data
    if kind is list:
        room = _less(room)
        return [_decode(item, room) for item in data]
    if kind is not dict or len(data) != 1:
        raise ValueError(f"expected an object with one tag, got {data!r:.80}")
    ((tag, body),) = data.items()
    if tag in _TEXT_TAGS:
        if type(body) is not str:
            raise ValueError(f"tag {tag!r}: expected text, got {body!r:.80}")
        return _TEXT_TAGS[tag](body)
    if type(body) is not list:
        raise ValueError(f"expected a known tag with a list, got {data!r:.80}")
    if tag == "complex":
        return _decode_complex([_decode(part, 1) for part in body])
    room = _less(room)
    if tag == "tuple":
        return tuple(_decode(item, room) for item in body)
    if tag in ("set", "frozenset", "dict"):
        return _decode_hashed(tag, body, room)
    raise ValueError(f"expected a known tag, got {tag!r:.80}")


def _less(room):
    if room <= 0:
        raise ValueError(f"expected at most {MAX_DEPTH} nested containers, got more")
    return room - 1


def _decode_complex(parts):
    if len(parts) != 2 or any(type(part) is not float for part in parts):
        raise ValueError(f"tag 'complex': expected two floats, got {parts!r:.80}")
    return complex(*parts)


def _decode_hashed(tag, body, room):
    if len(body) > MAX_HASHED:
        raise ValueError(f"expected at most {MAX_HASHED} items in a {tag}, got {len(body)}")
    try:
        if tag == "dict":
            if any(type(pair) is not list or len(pair) != 2 for pair in body):
                raise ValueError("tag 'dict': expected pairs of key and value")
            built = {_decode(key, room): _decode(value, room) for key, value in body}
        else:
            items = [_decode(item, room) for item in body]
            built = set(items) if tag == "set" else frozenset(items)
    except TypeError as error:  # unhashable
        raise ValueError(f"tag {tag!r}: {error}") from None
    if len(built) != len(body):
        raise ValueError(f"tag {tag!r}: expected {len(body)} different items, got {len(built)}")
    return built


def _decode_special_float(text):
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"tag 'float': expected nan, inf or -inf, got {text!r:.40}")
    return float(text)


_TEXT_TAGS = {
    "int": lambda text: int(text, 16),
    "float": _decode_special_float,
    "bytes": bytes.fromhex,
    "str": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
}


def dump_bytes(value, *, flatten=False):
    """`encode(value)` as UTF-8 JSON: one line, no blanks, the same bytes for equal values."""
    return _WRITER.encode(encode(value, flatten=flatten)).encode()


def parse_bytes(data, max_bytes=MAX_BYTES):
    """The value in `data`, which `dump_bytes` wrote, or a hostile program.

    Raises ValueError if it is larger than `max_bytes` (checked first), not JSON or not tagged data.
    """
    if len(data) > max_bytes:
        raise ValueError(f"expected at most {max_bytes} bytes of data, got {len(data)}")
    try:
        return decode(parse_json(data.decode("utf-8"), _STRICT))
    except RecursionError:
        raise ValueError("expected shallow data, got very deep nesting") from None


def parse_json(text, reader=None):
    """The JSON value that is all of `text`; less work than json.loads, which a fork pays for.

    Raises ValueError if it is not JSON, RecursionError if it is nested very deep.
    """
    value, end = (reader or _READER).raw_decode(text)
    if end != len(text):
        raise ValueError(f"expected one JSON value, got more after it: {text[end:]!r:.40}")
    return value


def _refuse(name):
    raise ValueError(f"expected tagged data, got the bare constant {name}")


_WRITER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_READER = json.JSONDecoder()
_STRICT = json.JSONDecoder(parse_constant=_refuse)
