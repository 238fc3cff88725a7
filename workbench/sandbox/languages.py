"""The languages a program may be written in: one table, a row a language.

Stage: sandbox (the trainer's side). A row says how a program is compiled and started and what it
must be able to read for that; a further language is one row more. Python's is special: it runs in
a fork of a warm server, which starts no program. Left out: installing a toolchain.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass

PROGRAM = "program"
"""What a compiler must call what it makes."""


@dataclass(frozen=True)
class Language:
    """How programs of one language are made and started."""

    name: str
    """As in `Task.language`."""
    suffix: str
    """Ending of a source file's name, e.g. ".c"."""
    run: tuple[str, ...]
    """The command, {entry} standing for the entry file and {memory_mb} for the memory limit. Empty:
    the program runs in a fork of the warm Python."""
    compile: tuple[str, ...] = ()
    """The command that makes the file PROGRAM, {sources} standing for all files of that suffix, the
    entry file first. Empty: nothing is compiled."""
    reads: tuple[str, ...] = ()
    """Folders and files the commands need besides the system's libraries and their first words."""
    parts: tuple[str, ...] = ()
    """Patterns of all files they need besides their first words: for an image, which has no system.
    The shared libraries that these are linked with need not be named."""
    example: str = ""
    """A program that prints the one word it reads: run before the first program of others, to see
    that the toolchain works behind the walls. What does not work here must not look wrong."""
    reserve_mb: int = 0
    """Address space that may be set aside beyond the memory limit, which is for what is used."""
    processes: bool = False
    """Whether a program may start others: a shell can do little without. Needs tier 3."""
    install: str = ""
    """What to install where a command is missing."""


_SYSTEM = ("/lib*", "/lib/*-linux-*", "/usr/lib*", "/usr/lib/*-linux-*")
"""Where systems keep libraries, and what the linker needs to make a program."""
_HEADERS = "arpa asm asm-generic bits gnu linux net netinet sys".split()
C_PARTS = (
    "/usr/bin/as",
    "/usr/bin/ld",
    *(
        f"/usr/lib*/gcc/*/*/{name}"
        for name in ("cc1", "collect2", "liblto_plugin.so", "crt*.o", "libgcc*", "include*")
    ),
    *(
        f"{folder}/{name}"
        for folder in _SYSTEM
        for name in ("*crt*.o", "libc.so*", "libc_nonshared.a", "libm.so*", "libmvec.so*",
                     "libgcc_s.so*")
    ),
    "/usr/include/*.h",
    *(f"/usr/include/{folder}" for folder in _HEADERS),
    *(f"/usr/include/*-linux-*/{folder}" for folder in _HEADERS),
)  # fmt: skip
"""GCC's compiler, assembler and linker, and the C library with its headers."""


LANGUAGES = {
    row.name: row
    for row in (
        Language("python", ".py", run=()),
        Language(
            "javascript",
            ".js",
            run=("node", "--max-old-space-size={memory_mb}", "{entry}"),
            reads=("/etc/ssl/openssl.cnf",),
            parts=("/etc/ssl/openssl.cnf",),
            example="console.log(require('fs').readFileSync(0, 'utf8'))",
            reserve_mb=16_384,
            install="Node.js (Debian and Ubuntu: apt-get install nodejs)",
        ),
        Language(
            "c",
            ".c",
            compile=("gcc", "-std=gnu17", "-O2", "-pipe", "-o", PROGRAM, "{sources}", "-lm"),
            run=(f"./{PROGRAM}",),
            reads=("/usr/bin", "/usr/include"),
            parts=C_PARTS,
            example="#include <stdio.h>\n"
            'int main(void) { char word[9]; if (scanf("%8s", word)) puts(word); return 0; }\n',
            install="GCC and the C library's headers (Debian and Ubuntu: apt-get install gcc "
            "libc6-dev)",
        ),
    )
}
"""Name -> language."""


def find(name: str) -> Language:
    """The language called `name`. Raises ValueError naming those there are."""
    if name not in LANGUAGES:
        raise ValueError(f"language: expected one of {sorted(LANGUAGES)}, got {name!r}")
    return LANGUAGES[name]


def tools(language: Language) -> dict[str, str | None]:
    """{first word of each command: the file it stands for here, or None if it is missing}."""
    words = [command[0] for command in (language.compile, language.run) if command]
    return {word: _path_of(word) for word in words if not word.startswith("./")}


def _path_of(word: str) -> str | None:
    found = shutil.which(word)
    return os.path.realpath(found) if found else None


def fill(command: Iterable[str], **values: object) -> list[str]:
    """The command with its places filled; a list fills a place with several words."""
    words: list[str] = []
    for word in command:
        value = values.get(word[1:-1]) if word[:1] + word[-1:] == "{}" else None
        words += value if isinstance(value, list) else [word.format_map(values)]
    return words
