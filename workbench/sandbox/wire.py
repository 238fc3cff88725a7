"""What the trainer and a sandbox server say to each other.

Stage: sandbox. One request, one response, over one socket; both start with a fixed header, so
that the server never parses anything a candidate wrote. Loaded on both sides: standard library
only. Left out: compression, versions (both ends come from the same files).
"""

from __future__ import annotations

import os
import struct

REQUEST = struct.Struct("!QIddII?")
"""Request number, bytes in the body, CPU seconds, wall seconds, memory in MiB, KiB of standard
output and of standard error to keep, whether the run is one of two that talk to each other (mode
"split")."""

RESPONSE = struct.Struct("!QIIIBBhdd")
"""Request number; bytes in the payload, in the kept output and in the kept errors, which follow in
this order; whether output (1) or errors (2) were cut; how it ended, exit status, CPU seconds, wall
seconds."""

HELLO = struct.Struct("!I")
"""Bytes in the JSON object a server sends once, when it is ready."""

EXITED, CPU_LIMIT, WALL_LIMIT, TOO_LARGE, FAULT, LEFT_ALONE, DISK_LIMIT = range(7)
"""How a run ended. FAULT is the server's own failure; the payload then says what happened.
LEFT_ALONE: ended because the other run of its pair had ended."""

BOX_MB, BOX_FILES = 16, 1000
"""Size of a run's work folder: of the file system that it is, where it is one; elsewhere a run that
writes more is ended."""

MAX_ANSWER_BYTES = 1 << 20
"""A run that sends more than this is ended."""

OUT_OF_MEMORY = 77
"""Exit status of a run that had no memory left to say so."""

MAX_SOURCE_BYTES = 1 << 20
"""A workspace larger than this is not run."""

READY, FAILED = b"R", b"F"
"""First byte on the result pipe: the run is confined and starts / could not be confined."""

VALUE, ERROR, TEST, NOT_LOADED, LEFT, END = b"v", b"e", b"t", b"c", b"x", b"."
"""First byte of an answer line: a case's value, a case's error, a test's outcome, the program
could not be loaded, the program left while loading, all is said."""

PLAN, START, HEARD, STOPPED = b"n", b"s", b"h", b"g"
"""The same in mode "split", from the tests' run: how many tests there are, a test starts (said of a
pytest suite, too), the solution has answered for the first time, nothing more can be asked (and
why, if not because the solution's run has ended)."""

MAX_TESTS = 10_000
"""Test code with more tests is not run: what it has to say would not fit into an answer."""


def write_all(descriptor, data):
    """Write every byte."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def receive(read_into, size):
    """Exactly `size` bytes as a bytearray, or None at the end of the stream.

    read_into: fills a memoryview and returns how many bytes it wrote, like socket.recv_into.
    """
    data = bytearray(size)
    return data if receive_into(read_into, memoryview(data)) else None


def receive_into(read_into, view):
    """Fill `view`; False if the stream ended first."""
    done = 0
    while done < len(view):
        count = read_into(view[done:])
        if count == 0:
            return False
        done += count
    return True
