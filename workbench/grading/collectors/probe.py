"""The program that notes which lines another one executes; its text is put beside that one.

Stage: grading (in the sandbox, sent there as a file by `coverage`). Lines are noted by Python's own
tracing, for this thread. Standard library only. **The program runs in the same process: it can
switch the tracing off or write down what it likes.** Left out: threads, generators that are
resumed by other threads.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
EVERY = 256
"""Events between two looks at the clock."""


class OutOfTime(BaseException):
    """Ends a call whose lines have taken long enough; nothing that catches errors catches it."""


class Tracer:
    """Notes lines of the workspace's files while it is switched on."""

    def __init__(self):
        self.lines = set()
        self.said = set()
        self.end_s = 0.0
        self.num_events = 0

    def call(self, frame, event, arg):
        """A function is entered; only those of the workspace are followed."""
        path = frame.f_code.co_filename
        return self.line if path.startswith(HERE) and path != __file__ else None

    def line(self, frame, event, arg):
        """Something happens in a function that is followed."""
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        self.num_events += 1
        if self.num_events % EVERY == 0 and time.process_time() > self.end_s:
            raise OutOfTime
        return self.line


TRACER = Tracer()


def executed(module, name, args, budget_s):
    """{path: lines} that `name(*args)` executes and no call before it did; loading counts.

    budget_s: CPU seconds for this call; a Python loop is ended then, and its lines are kept.
    """
    TRACER.end_s = time.process_time() + budget_s
    sys.settrace(TRACER.call)
    try:
        getattr(__import__(module, fromlist=[name]), name)(*args)
    except BaseException:  # SystemExit and OutOfTime too: what was executed counts
        pass
    finally:
        sys.settrace(None)
    found = {}
    for path, line in sorted(TRACER.lines - TRACER.said):
        found.setdefault(path[len(HERE) :].replace(os.sep, "/"), []).append(line)
    TRACER.said |= TRACER.lines
    return found
