"""How a run of the solutions' server and a run of the tests' server come to talk (mode "split").

Stage: sandbox (server side). Two servers, so that no fork ever holds both a solution and its tests:
one is a `Solutions`, the other a `Tests`, joined by a socket. The solutions' server makes the two
pipes of a run (calls, answers) and hands the far ends over under the request's number; the runs
then talk without any server. Each server keeps the end its own run reads from: that it hangs up
says that the other run has ended. Left out: more than two runs that talk.
"""

from __future__ import annotations

import _socket
import os
import select
import struct
import time

_NUMBER = struct.Struct("!Q")
_TWO = struct.Struct("@2i")
_TWO_SPACE = _socket.CMSG_SPACE(_TWO.size)


class Ends:
    """The pipes made with a fork: what it keeps, what its partner gets, what hangs up."""

    def __init__(self, pipes=True):
        self.in_run, self.to_hand, self.watched = (), (), None
        if pipes:
            calls, calls_there = os.pipe()
            answers_there, answers = os.pipe()
            self.in_run, self.to_hand = (calls, answers), (calls_there, answers_there)
            self.watched = os.dup(calls)

    def close(self):
        """Close what this server holds; the run's own ends were closed after the fork."""
        for descriptor in self.to_hand:
            os.close(descriptor)
        if self.watched is not None:
            os.close(self.watched)
        self.to_hand, self.watched = (), None


class Solutions:
    """The side that is only ever given solutions."""

    grace_s = 0.0
    """A run whose tests have ended has nobody to talk to."""

    def __init__(self, inner, harness):
        """inner: descriptor of a socket to the tests' server; harness: module `candidate`."""
        self.harness = harness
        self._inner = _socket.socket(fileno=inner)
        self._pairs = False

    def channel(self):
        """Two descriptors, through which a run gets its request: its own, the server's."""
        return os.pipe()

    def ends(self):
        """The pipes for a new fork; none before the first request that needs them."""
        return Ends(self._pairs)

    def can_join(self, run):
        """Whether a run was made with pipes."""
        self._pairs = True
        return bool(run.ends.to_hand)

    def join(self, run, number, deadline):
        """Hand over the far ends of the run's pipes; the descriptor that hangs up, or None."""
        if number is None:
            run.ends.close()
            return None
        _hand(self._inner, _NUMBER.pack(number), run.ends.to_hand)
        watched, run.ends.watched = run.ends.watched, None
        run.ends.close()
        return watched

    def decline(self, number):
        """Say that there will be no run of this number."""
        try:
            if number is not None:
                _hand(self._inner, _NUMBER.pack(number), ())
        except OSError:
            pass  # nobody is there to be told

    def receive(self, requests, ends):
        """In the run: the ends it talks through."""
        return ends


class Tests:
    """The side that is only ever given tests."""

    grace_s = 1.0
    """A run whose solution has ended may still say so."""

    def __init__(self, inner, harness):
        """inner: descriptor of a socket to the solutions' server; harness: `split_tests`."""
        self.harness = harness
        self._inner = _socket.socket(fileno=inner)

    def channel(self):
        """As for `Solutions`; a socket, because descriptors go through it too."""
        in_run, here = _socket.socketpair()
        return in_run.detach(), here.detach()

    def ends(self):
        """None: the pipes come from the other server, after the fork."""
        return Ends(pipes=False)

    def can_join(self, run):
        """Any run can."""
        return True

    def join(self, run, number, deadline):
        """Give the run its two ends; the descriptor that hangs up, or None."""
        ends = () if number is None else self._take(number, deadline)
        channel = _socket.socket(fileno=run.requests)
        try:
            _hand(channel, b"p", ends)
        except OSError:
            pass  # it has died; what it said about that will be read
        finally:
            channel.detach()
        if not ends:
            return None
        calls, answers = ends
        os.close(calls)
        return answers

    def decline(self, number):
        """Nothing: the other server's run sees that nobody holds its pipes."""

    def receive(self, requests, ends):
        """In the run, before the filter that forbids it: the ends it talks through."""
        channel = _socket.socket(fileno=requests)
        _, ends = _receive(channel, 1)
        channel.detach()
        return ends

    def _take(self, number, deadline):
        """The two ends that belong to `number`; those of a run that came to nothing are closed."""
        while select.select([self._inner], (), (), max(0.0, deadline - time.monotonic()))[0]:
            data, ends = _receive(self._inner, _NUMBER.size)
            if not data:
                break
            if _NUMBER.unpack(data) == (number,) and ends:
                return ends
            for end in ends:
                os.close(end)
            if _NUMBER.unpack(data) == (number,):
                break
        raise OSError("the solution's run did not start")


def _hand(channel, data, descriptors):
    rights = (
        [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, _TWO.pack(*descriptors))] if descriptors else []
    )
    channel.sendmsg([data], rights)


def _receive(channel, size):
    data, rights, _, _ = channel.recvmsg(size, _TWO_SPACE)
    return data, _TWO.unpack(rights[0][2]) if rights else ()
