"""A run as its server sees it: its process, where its request goes, what comes out of its pipes.

Stage: sandbox (server side). Of the answers, and of standard output and standard error, the first
bytes are kept in rooms that no fork inherits; what is more is read and dropped, so that nobody
waits for room. Left out: what any of it means.
"""

from __future__ import annotations

import mmap
import os
import select

from workbench.sandbox import wire

CHUNK = 1 << 16
"""What a pipe holds, in bytes."""
F_SETPIPE_SZ = 1031


def widen(pipes):
    """Give pipes room for a mebibyte, where that can be had (Linux).

    Node.js never waits for room: what does not fit when a script calls process.exit is lost.
    """
    import fcntl  # here: servers whose runs start no programs have no use for it

    for descriptor in pipes:
        try:
            fcntl.fcntl(descriptor, F_SETPIPE_SZ, 1 << 20)
        except OSError:  # the user has used up what the system grants
            pass


def make_room(size):
    """Zeros that only this process has: its forks have nothing in that place, where the system can
    leave it out (Linux). They have less to copy, and cannot find there what was said before."""
    room = mmap.mmap(-1, size, mmap.MAP_PRIVATE)
    if hasattr(mmap, "MADV_DONTFORK"):
        room.madvise(mmap.MADV_DONTFORK)
    return room


def wipe(room, size):
    """Overwrite the first `size` bytes of a room, chunk by chunk: a heap that has once grown for as
    many zeros is copied by every later fork."""
    for start in range(0, size, CHUNK):
        end = min(start + CHUNK, size)
        room[start:end] = bytes(end - start)


class Rooms:
    """The three rooms that all runs of a server share, one after the other."""

    def __init__(self):
        sizes = wire.MAX_ANSWER_BYTES, CHUNK, CHUNK  # the last two are what most requests ask for
        self._all = [make_room(size + CHUNK) for size in sizes]

    def for_output(self, size):
        """Views of all three; output and errors keep `size` bytes each."""
        for number in (1, 2):
            if len(self._all[number]) != size + CHUNK:
                self._all[number] = make_room(size + CHUNK)
        return map(memoryview, self._all)

    def wipe(self, run):
        """Overwrite what `run` wrote."""
        for room, stream in zip(self._all, run.streams):
            wipe(room, min(stream.said, len(room)))


class Run:
    """A fork that waits for its request, and later what it has said."""

    def __init__(self, pid, requests, readers, ends):
        """readers: descriptors of the pipes for answers, output and errors."""
        self.pid, self.requests, self.ends = pid, requests, ends
        self.streams = [Stream(descriptor) for descriptor in readers]
        self.answers = self.streams[0]

    def send(self, head, body, rooms):
        """Give it its request; rooms: a buffer for each stream."""
        for stream, room in zip(self.streams, rooms):
            stream.room = room
        try:
            wire.write_all(self.requests, head)
            wire.write_all(self.requests, body)
        except OSError:
            pass  # it has died; what it said about that will be read
        os.close(self.requests)

    def drain(self, poll=None):
        """Read what there is. A stream that was full is from then on waited for in `poll`."""
        for stream in self.streams:
            count = stream.drain()
            if poll and count >= CHUNK // 2 and not stream.watched:
                poll.register(stream.descriptor, select.POLLIN)
                stream.watched = True
            elif poll and stream.watched and count == 0:  # its end, which poll reports for ever
                poll.unregister(stream.descriptor)
                stream.watched = False

    def close(self):
        """Let go of its pipes."""
        for stream in self.streams:
            os.close(stream.descriptor)
        self.ends.close()


_NOWHERE = memoryview(bytearray(CHUNK))
"""For what a fork says that was given no request."""


class Stream:
    """One pipe out of a run. `room` keeps all but its last chunk, which what is more goes over."""

    def __init__(self, descriptor):
        os.set_blocking(descriptor, False)
        self.descriptor, self.room = descriptor, _NOWHERE
        self.said, self.watched = 0, False

    @property
    def limit(self):
        """How many bytes are kept."""
        return len(self.room) - CHUNK

    @property
    def is_full(self):
        """Whether there was more."""
        return self.said > self.limit

    @property
    def kept(self):
        """A view of the bytes that were kept."""
        return self.room[: min(self.said, self.limit)]

    def drain(self):
        """Read what the pipe holds: how many bytes that was, 0 at its end, -1 for none now."""
        try:
            count = os.readv(self.descriptor, [self.room[min(self.said, self.limit) :]])
        except BlockingIOError:
            return -1
        self.said += count
        return count
