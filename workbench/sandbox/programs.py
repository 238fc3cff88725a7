"""Programs that read standard input: how one is compiled, where it runs, what it did.

Stage: sandbox (the trainer's side). Files, a text for standard input and a language go in, a
`ProgramResult` comes out. Python programs go to the sandbox's own servers; those of each other
language to servers of their own, started when it is first used: only their walls let programs
start. Left out: programs that talk to a judge while they run.
"""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.records import Limits
from workbench.sandbox import wire
from workbench.sandbox.filetree import STDIN_FILE
from workbench.sandbox.languages import PROGRAM, Language, fill, tools
from workbench.sandbox.responses import Response, printed
from workbench.sandbox.results import ProgramResult, program_result

if TYPE_CHECKING:
    from workbench.sandbox.pool import Pool

COMPILE = Limits(cpu_s=10.0, wall_s=60.0, memory_mb=1024, output_kb=16)
"""What a compiler may use; the memory is that of each process it starts."""
EXAMPLE = Limits(cpu_s=10.0, wall_s=60.0)
"""What a language's example may use."""
SHOWN_LINES = 8
"""How many of a compiler's lines a message repeats."""


class Unavailable(Exception):
    """What was asked for cannot run here; says what is missing."""


class Toolboxes:
    """The pools for languages other than Python: one a language, opened at its first use."""

    def __init__(self, tier: int, open_pool: Callable[[Toolchain], Pool], find: Callable = tools):
        """open_pool: starts servers for the programs of a toolchain. find: gives the commands of a
        language, as `languages.tools` does."""
        self._tier, self._open_pool, self._find = tier, open_pool, find
        self._lock = threading.Lock()
        self._opened: dict[str, Pool] = {}
        self._missing: dict[str, str] = {}

    @property
    def opened(self) -> tuple[Pool, ...]:
        """Those that have been used."""
        return tuple(self._opened.values())

    def get(self, language: Language) -> tuple[Toolchain, Pool]:
        """A language's commands and its pool. Raises Unavailable if its programs cannot run
        here."""
        toolchain, name = Toolchain(language, self._find(language)), language.name
        with self._lock:
            if name in self._missing:
                raise Unavailable(self._missing[name])
            if name not in self._opened:
                try:
                    self._opened[name] = self._open(toolchain)
                except Unavailable as error:
                    self._missing[name] = str(error)
                    raise
            return toolchain, self._opened[name]

    def _open(self, toolchain):
        name = toolchain.language.name
        if toolchain.language.processes and self._tier == 2:
            raise Unavailable(
                f"{name} is not available at this tier (2): its programs start others, which only "
                "the namespaces of tier 3 can count and end"
            )
        try:
            box = self._open_pool(toolchain)
        except RuntimeError as error:
            raise Unavailable(f"no server for {name} could be started: {error}") from None
        reason = "; ".join(reason for _, reason in box.declined) if box.tier < self._tier else ""
        if reason := reason or toolchain.what_fails(box):
            box.close()
            raise Unavailable(
                f"{name} programs do not run at tier {self._tier} here: {reason}. They need "
                f"{toolchain.language.install}"
            )
        return box

    def close(self) -> None:
        """End all servers."""
        for box in self.opened:
            box.close()


class Toolchain:
    """A language's commands as they are found where its programs run."""

    def __init__(self, language: Language, found: Mapping[str, str | None]):
        """found: first word of each command -> its file, or None. Raises Unavailable if one is
        missing."""
        self.language = language
        self._tools = found
        if missing := [word for word, path in self._tools.items() if path is None]:
            raise Unavailable(
                f"{language.name} programs need {' and '.join(missing)}, not found on the PATH: "
                f"install {language.install}"
            )

    def setup(self) -> dict:
        """The setup of the servers its programs run in."""
        reads = [*self.language.reads, *self._tools.values()]
        reads = list(filter(os.path.exists, reads))
        return {"reads": reads, "packages": {}, "programs": True, "harness": "modes"}

    def parts(self) -> list[str]:
        """Patterns of the files that an image for its programs is made of."""
        return [*self._tools.values(), *self.language.parts]

    def run(self, box, files, entry_file, stdin, limits) -> ProgramResult:
        """Compile the program, if need be, and run it in `box`."""
        language, binaries = self.language, {}
        if language.compile:
            response = self._compile(box, files, entry_file)
            if not response.payload.startswith(wire.VALUE):
                return _not_compiled(response)
            binaries = {PROGRAM: base64.b64encode(response.payload[1:]).decode()}
            files = {path: text for path, text in files.items() if not self._is_source(path)}
        request = {
            "mode": "execute",
            "command": self._filled(language.run, entry=entry_file, memory_mb=limits.memory_mb),
            "binaries": binaries,
            "stdin": stdin,
            "alone": not language.processes,
            "reserve_mb": language.reserve_mb,
        }
        return _result(*box.execute(request, files, limits), limits)

    def what_fails(self, box) -> str:
        """What comes of the language's example where that is not what should; else ""."""
        name = f"main{self.language.suffix}"
        result = self.run(box, {name: self.language.example}, name, "works\n", EXAMPLE)
        if (result.status, result.stdout.split()) == ("ok", ["works"]):
            return ""
        said = result.message or result.stderr[:300] or f"its output is {result.stdout[:100]!r}"
        return f"a first program gave {result.status}: {said}"

    def _compile(self, box, files, entry_file) -> Response:
        others = sorted(p for p in files if self._is_source(p) and p != entry_file)
        paths = (entry_file, *others)
        sources = [f"./{path}" if path[0] in "-@" else path for path in paths]  # no options
        command = self._filled(self.language.compile, sources=sources)
        request = {"mode": "compile", "command": command, "makes": PROGRAM}
        return box.execute(request, files, COMPILE, always_reuse=True)[0]

    def _is_source(self, path) -> bool:
        return path.endswith(self.language.suffix)

    def _filled(self, command, **values) -> list[str]:
        first, *rest = fill(command, **values)
        return [self._tools.get(first) or first, *rest]


def run_program(
    pool: Pool,
    toolboxes: Toolboxes,
    files: Mapping[str, str],
    entry_file: str,
    stdin: str,
    limits: Limits,
    language: Language,
) -> ProgramResult:
    """What `Sandbox.run_program` promises; its arguments have been checked."""
    if reason := _misnamed(files, language):
        return ProgramResult("compile_error", message=reason)
    if not language.run:
        request = {"mode": "program", "entry_file": entry_file, "stdin": stdin}
        return _result(*pool.execute(request, files, limits), limits)
    try:
        toolchain, box = toolboxes.get(language)
    except Unavailable as error:
        return ProgramResult("unscorable", message=str(error))
    return toolchain.run(box, files, entry_file, stdin, limits)


def _misnamed(files: Mapping[str, str], language: Language) -> str:
    """Which name a program's file cannot have, and why; else ""."""
    taken = {STDIN_FILE, PROGRAM} if language.compile else {STDIN_FILE}
    if names := taken & {path.split("/")[0] for path in files}:
        return f"the name {names.pop()!r} is taken"
    for path in files if language.compile else ():
        if path.rpartition("/")[2].startswith("@") and path.endswith(language.suffix):
            return f"the name {path!r:.80} begins with @, which tells GCC to read options there"
    return ""


def _result(response: Response, reused: bool, limits: Limits) -> ProgramResult:
    return replace(program_result(response, limits), reused=reused, **printed(response))


def _not_compiled(response: Response) -> ProgramResult:
    """The result of a program that the compiler did not make, and why."""
    result = replace(program_result(response, COMPILE), **printed(response))
    if result.status == "sandbox_error":
        return result
    lines = result.stderr.splitlines()[:SHOWN_LINES]
    message = "\n".join(lines) if result.exit_code is not None and lines else result.message
    status = "timeout" if response.ended == wire.WALL_LIMIT else "compile_error"
    reason = message or "the compiler said nothing"
    return replace(result, status=status, exit_code=None, message=f"compiling: {reason}")
