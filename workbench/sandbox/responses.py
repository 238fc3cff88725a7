"""What a server sent back about one run, and what that says whatever the run was for.

Stage: sandbox (the trainer's process). Bytes that a hostile program may have written are held here;
`results` makes plain data of them. Left out: any judgement, which is grading's work.
"""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass

from workbench.sandbox import wire


@dataclass(frozen=True)
class Response:
    """What a server sent back."""

    ended: int
    """One of wire.EXITED, CPU_LIMIT, WALL_LIMIT, TOO_LARGE, FAULT, LEFT_ALONE, DISK_LIMIT."""
    exit_status: int
    """Exit status of the run, or minus the signal that ended it."""
    payload: bytes
    """Its answer lines, or what went wrong with the server."""
    cpu_s: float
    """CPU seconds used."""
    wall_s: float
    """Wall-clock seconds."""
    restarts: int = 0
    """How often the server had to be started again for this."""
    stdout: bytes = b""
    """What was kept of its standard output."""
    stderr: bytes = b""
    """What was kept of its standard error."""
    stdout_cut: bool = False
    """Whether there was more output."""
    stderr_cut: bool = False
    """Whether there were more errors."""
    tests: Response | None = None
    """In mode "split": what the server for tests sent back."""

    @property
    def parts(self) -> tuple[Response, ...]:
        """This response and the one about the tests, if there is one."""
        return (self,) if self.tests is None else (self, self.tests)

    @property
    def size(self) -> int:
        """Bytes it takes to keep this."""
        return sum(len(p.payload) + len(p.stdout) + len(p.stderr) for p in self.parts)


class Malformed(Exception):
    """The run wrote something on the result pipe that our side of it would not have written."""


def strings(body, count):
    """The `count` texts of a JSON list, cut to what a message needs. Raises Malformed."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed("a line that is not JSON") from None
    if type(found) is not list or len(found) != count or any(type(x) is not str for x in found):
        raise Malformed(f"a line that is not {count} texts")
    # half a surrogate pair cannot be written, printed or tokenized: shown as its escape instead
    return [text[:400].encode("utf-8", "backslashreplace").decode() for text in found]


def printed(response):
    """The fields of `Printed` for a server's response."""
    return {
        "stdout": text_of(response.stdout),
        "stderr": text_of(response.stderr),
        "stdout_cut": response.stdout_cut,
        "stderr_cut": response.stderr_cut,
    }


def killed_from_outside(response, limits):
    """Whether a run was ended by SIGKILL and by no limit of ours: the out-of-memory killer, say.

    A program below tier 3 can do this to itself, so it says nothing certain about the machine.
    """
    return any(
        part.ended == wire.EXITED
        and part.exit_status == -signal.SIGKILL
        and part.cpu_s < limits.cpu_s
        for part in response.parts
    )


def how_it_ended(response, limits):
    """(status, message) of a run that did not say that it had finished."""
    ended_by_kernel = response.exit_status in (-signal.SIGXCPU, -signal.SIGKILL)
    over_s = ended_by_kernel and response.cpu_s >= limits.cpu_s
    if response.ended == wire.CPU_LIMIT or (response.ended == wire.EXITED and over_s):
        return "timeout", f"used more than {limits.cpu_s:g} s of CPU time"
    if response.ended == wire.WALL_LIMIT:
        return "timeout", f"not done after {limits.wall_s:g} s (wall-clock deadline)"
    if response.ended == wire.TOO_LARGE:
        return "crash", f"sent more than {wire.MAX_ANSWER_BYTES} bytes of answers"
    if response.ended == wire.DISK_LIMIT:
        return "crash", f"wrote more than {wire.BOX_MB} MiB or {wire.BOX_FILES} files"
    if response.ended == wire.LEFT_ALONE:
        return "crash", "stopped answering without ending"
    if response.exit_status == wire.OUT_OF_MEMORY:
        return "memory", f"used more than {limits.memory_mb} MiB of memory"
    if response.exit_status < 0:
        return "crash", f"the program was ended by signal {-response.exit_status}"
    return "crash", f"the program left early with exit status {response.exit_status}"


def text_of(payload):
    """Bytes as text, whatever they are."""
    return payload.decode("utf-8", "replace")
