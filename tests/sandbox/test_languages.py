"""Programs in other languages: one row each, and walls that hold what they start.

Hostile programs run behind walls only (tiers 2 and 3); each ends by its limits and harms nobody.
"""

import dataclasses
import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from workbench.records import Limits
from workbench.sandbox import LANGUAGES, Language, languages, open_sandbox
from workbench.sandbox.languages import fill

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's"),
]
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
LIMITS = Limits(cpu_s=0.5, wall_s=20.0, memory_mb=256)
ADD = {
    "javascript": "const [a, b] = require('fs').readFileSync(0, 'utf8').trim().split(/\\s+/)\n"
    "console.log(Number(a) + Number(b))\nprocess.exitCode = 3\n",
    "c": "#include <stdio.h>\nint main(void) {\n  int a, b;\n"
    '  scanf("%d %d", &a, &b);\n  printf("%d\\n", a + b);\n  return 3;\n}\n',
}
AVAILABLE = [
    pytest.param("javascript", marks=needs_node),
    pytest.param("c", marks=needs_gcc),
]


def run(sandbox, language, text, stdin="", limits=LIMITS, **files):
    name = f"main{LANGUAGES[language].suffix}"
    return sandbox.run_program({name: text, **files}, name, stdin, limits, language)


def c(sandbox, body, stdin="", limits=LIMITS, includes="stdio stdlib string unistd", before=""):
    lines = "".join(f"#include <{name}.h>\n" for name in includes.split())
    text = f"{lines}{before}\nint main(void) {{ {body} return 0; }}\n"
    return run(sandbox, "c", text, stdin, limits)


@pytest.mark.parametrize("language", AVAILABLE)
def test_a_program_reads_prints_and_has_an_exit_code(walled, language):
    for stdin, stdout in (("2 3\n", "5\n"), ("-4\n4", "0\n")):
        result = run(walled, language, ADD[language], stdin)
        assert (result.status, result.exit_code, result.stdout) == ("ok", 3, stdout), result
        assert result.stderr == ""


@pytest.mark.parametrize("language", AVAILABLE)
def test_an_endless_program_ends_at_its_cpu_limit_and_a_sleeper_at_the_deadline(walled, language):
    loop = {"javascript": "for (;;);", "c": "int main(void) { for (;;); }"}[language]
    result = run(walled, language, loop)
    assert (result.status, result.exit_code) == ("timeout", None)
    assert result.message == "used more than 0.5 s of CPU time"
    sleep = {
        "javascript": "setTimeout(() => 0, 60000)",
        "c": "#include <unistd.h>\nint main(void) { sleep(60); }",
    }[language]
    result = run(walled, language, sleep, limits=dataclasses.replace(LIMITS, wall_s=1.0))
    assert result.message == "not done after 1 s (wall-clock deadline)"


@pytest.mark.parametrize("language", AVAILABLE)
def test_an_endless_printer_ends_at_its_cpu_limit(walled, language):
    text = {
        "javascript": "for (;;) console.log('a'.repeat(1000))",
        "c": '#include <stdio.h>\nint main(void) { for (;;) puts("aaaaaaaaaaaaaaaaaaaaaaaaa"); }',
    }[language]
    result = run(walled, language, text, limits=dataclasses.replace(LIMITS, wall_s=60.0))
    assert result.status == "timeout" and "CPU" in result.message
    assert len(result.stdout) == 64 << 10 and result.stdout_cut


@needs_gcc
def test_a_program_is_compiled_once_for_all_its_texts():
    with open_sandbox(workers=1, reuse=False) as sandbox:
        for stdin in ("1 2", "3 4", "3 4"):
            assert run(sandbox, "c", ADD["c"], stdin).exit_code == 3
        compiled = 2  # the row's example and the program
        assert sandbox.stats.executions == compiled + 1 + 3
        assert sandbox.stats.reused == 2


@needs_gcc
def test_a_compile_error_names_the_line(walled):
    result = run(walled, "c", "int main(void) {\n  return x;\n}\n")
    assert (result.status, result.exit_code) == ("compile_error", None)
    assert result.message.startswith("compiling: main.c: In function")
    assert "main.c:2:10: error:" in result.message and "main.c:2:10: error:" in result.stderr


@needs_gcc
def test_several_files_are_one_program(walled):
    files = {"twice.h": "int twice(int);\n", "twice.c": "int twice(int x) { return 2 * x; }\n"}
    text = '#include "twice.h"\nint main(void) { return twice(4); }\n'
    assert run(walled, "c", text, **files).exit_code == 8
    named = run(walled, "c", text, **{**files, "program": "x"})
    assert named.message == "the name 'program' is taken"


@needs_gcc
@pytest.mark.parametrize("name", ["-fno-such-option.c", "@folder/twice.c"])
def test_a_files_name_is_no_option_of_the_compiler(walled, name):
    files = {name: "int twice(int x) { return 3 * x; }", "folder/twice.c": ""}
    text = "int twice(int); int main(void) { return twice(2); }"
    assert run(walled, "c", text, **files).exit_code == 6


@needs_gcc
@pytest.mark.parametrize("name", ["@options.c", "folder/@options.c"])
def test_a_file_is_not_read_as_options_of_the_compiler(walled, name):
    """GCC and the programs it starts read "@options.c" as: more options are in options.c."""
    result = run(walled, "c", "int main(void) { return 0; }", **{name: "", "options.c": "-v"})
    message = f"the name {name!r} begins with @, which tells GCC to read options there"
    assert (result.status, result.message) == ("compile_error", message)


@needs_gcc
def test_an_abort_is_seen_as_the_signal_it_is_where_signals_are_allowed(walled):
    result = c(walled, "assert(0);", includes="assert")
    assert result.status == "crash" and "Assertion" in result.stderr
    if walled.tier == 3:
        assert (result.exit_code, result.message) == (-6, "the program was ended by signal 6")


@needs_gcc
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("char *p = 0; *p = 1;", "crash"),
        ("for (;;) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); }", "crash"),
        ("char *p = malloc(1UL << 30); return p != 0;", "ok"),
        ("void *p = mmap(0, 1 << 20, 3, 0x21, -1, 0); return p != MAP_FAILED;", "ok"),
        ("return fork() != -1;", "ok"),
        ("return vfork() != -1;", "ok"),
        ('return system("exit 7") == 7 << 8;', "ok"),
        ("return socket(2, 1, 0) != -1;", "ok"),
        ("return setsid() != -1;", "ok"),
        ("return unshare(0x10000000) != -1;", "ok"),
        ("return syscall(319, \"x\", 0) != -1;", "ok"),
        ('return open("/etc/shadow", 0) != -1;', "ok"),
        ('return open("/etc/passwd", 0) != -1;', "ok"),
        ('return open("/proc/1/environ", 0) != -1;', "ok"),
        ('return open("/usr/bin/new", 0101, 0600) != -1;', "ok"),
        ("return write(3, \"v1\\n.\\n\", 5) != -1 || write(4, \"x\", 1) != -1;", "ok"),
        ("int n = 0; for (int i = 3; i < 64; i++) n += write(i, \"R\", 1) != -1; return n;", "ok"),
        ("return kill(1, 9) != -1 && getpid() < 2;", "ok"),
        ("return ptrace(16, 1, 0, 0) != -1;", "ok"),
        ("return setuid(0) != -1 && open(\"/etc/shadow\", 0) != -1;", "ok"),
    ],
)  # fmt: skip
def test_a_hostile_c_program_gets_nothing(walled, body, status):
    includes = "stdio stdlib string unistd fcntl signal sys/mman sys/socket sys/ptrace sys/syscall"
    before = "int unshare(int); "
    result = c(walled, body, includes=includes, before=before)
    assert result.status == status, result
    if status == "ok":
        assert result.exit_code == 0, result


@needs_gcc
def test_filling_the_work_folder_ends_with_an_error_and_leaves_nothing(walled):
    if walled.name == "local:2":
        pytest.skip("no quota of disk space at tier 2 without a container")
    body = """
    for (int i = 0; ; i++) {
        char name[20]; sprintf(name, "%d", i);
        FILE *file = fopen(name, "w");
        if (!file) return i < 2000 ? 5 : 6;
        for (int j = 0; j < 1 << 20 && fputc(1, file) != EOF; j++);
        fclose(file);
    }"""
    result = c(walled, body, limits=Limits(cpu_s=5.0))
    assert (result.status, result.exit_code) == ("ok", 5)
    assert c(walled, 'return fopen("0", "r") != 0;').exit_code == 0


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        "char a[1 << 30] = {1};\nint main(void) { return 0; }\n",
        '#include "/etc/passwd"\nint main(void) { return 0; }\n',
        '#include "/dev/urandom"\n',
        '#include "main.c"\n#include "main.c"\n',
        "int main(void) { return " + "(" * 100_000 + "1" + ")" * 100_000 + "; }\n",
        "".join(f"#define A{n} A{n + 1} A{n + 1} A{n + 1} A{n + 1}\n" for n in range(40))
        + "#define A40 1;\nint main(void) { A0 }\n",
        '__asm__(".incbin \\"/etc/shadow\\"");\nint main(void) { return 0; }\n',
        '__asm__(".rept 2000000000\\n.quad 1\\n.endr");\nint main(void) { return 0; }\n',
    ],
    ids="huge passwd urandom itself nested macros incbin rept".split(),
)
def test_a_hostile_source_is_a_compile_error(walled, text, monkeypatch):
    from workbench.sandbox import programs

    monkeypatch.setattr(programs, "COMPILE", Limits(cpu_s=0.5, wall_s=60.0, memory_mb=512))
    result = run(walled, "c", text)
    assert result.status in ("compile_error", "timeout"), result
    assert "root:" not in result.stderr
    assert run(walled, "c", ADD["c"], "1 2").stdout == "3\n"


@needs_node
def test_a_hostile_script_gets_nothing(walled):
    text = """
    const tried = {
        fork: () => require('child_process').spawnSync('/bin/sh', ['-c', 'echo hi']).error.code,
        read: () => { try { return require('fs').readFileSync('/etc/shadow') } catch (e) {
            return e.code } },
        write: () => { try { require('fs').writeFileSync('/etc/new', 'x') } catch (e) {
            return e.code } },
        other: () => { try { require('fs').writeSync(3, 'v1\\n.\\n') } catch (e) {
            return e.code } },
        environment: () => Object.keys(process.env).filter(name => /KEY|TOKEN/.test(name)).length,
    }
    for (const [name, attempt] of Object.entries(tried)) console.log(name, attempt())
    require('net').connect(80, '127.0.0.1').on('error', e => console.log('net', e.code))
    """
    result = run(walled, "javascript", text, limits=Limits(cpu_s=2.0))
    said = dict(line.split() for line in result.stdout.splitlines())
    assert result.exit_code == 0, result
    assert said["fork"] in ("EPERM", "ENOENT", "EACCES")
    assert said["read"] in ("ENOENT", "EACCES") and said["write"] in ("ENOENT", "EACCES", "EROFS")
    assert said["environment"] == "0" and said["net"] in ("EPERM", "EACCES")


@needs_node
def test_a_script_that_takes_all_memory_ends(walled):
    text = "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))"
    result = run(walled, "javascript", text, limits=Limits(cpu_s=5.0, memory_mb=256))
    assert result.status in ("ok", "crash") and result.exit_code != 0, result


@needs_node
def test_a_script_that_exits_at_once_has_printed_what_it_printed(walled):
    text = "process.stdout.write('a'.repeat(900_000)); process.exit(0)"
    result = run(walled, "javascript", text, limits=Limits(cpu_s=2.0, output_kb=1024))
    assert (result.exit_code, len(result.stdout)) == (0, 900_000)


@needs_node
def test_an_exception_in_a_script_is_exit_code_one(walled):
    result = run(walled, "javascript", "null.x", limits=Limits(cpu_s=2.0))
    assert (result.status, result.exit_code) == ("ok", 1) and "TypeError" in result.stderr


SHELL = Language(
    "shell",
    ".sh",
    run=("sh", "{entry}"),
    reads=("/usr/bin", "/bin"),
    example="read word; echo $word\n",
    processes=True,
    install="a POSIX shell",
)
"""A fourth language, one whose programs start others."""


@pytest.fixture
def shell(monkeypatch):
    monkeypatch.setitem(languages.LANGUAGES, "shell", SHELL)


def alive(word):
    """Whether a process of this machine has `word` in its command line."""
    own = str(os.getpid())
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.parent.name != own and word.encode() in path.read_bytes():
                return True
        except OSError:
            pass
    return False


def test_a_further_language_is_one_row(shell):
    with open_sandbox("local", workers=1) as sandbox:
        if sandbox.tier < 3:
            pytest.skip(f"tier {sandbox.tier} here: {sandbox.declined}")
        text = "read a b\nexpr $a + $b | cat\nexit 3\n"
        result = run(sandbox, "shell", text, "2 3\n")
        assert (result.status, result.exit_code, result.stdout) == ("ok", 3, "5\n"), result
        bomb = "f() { f | f & }\nf\nsleep 61.25\n"
        started = time.monotonic()
        result = run(sandbox, "shell", bomb, limits=Limits(cpu_s=0.5, wall_s=3.0))
        assert result.status in ("timeout", "ok", "crash") and time.monotonic() - started < 30
        daemon = "(trap '' HUP TERM; sleep 61.25 & sleep 61.25) >/dev/null 2>&1 &\necho gone\n"
        assert run(sandbox, "shell", daemon).stdout == "gone\n"
        assert not alive("61.25")
        assert run(sandbox, "shell", text, "4 5\n").stdout == "9\n"
        assert sandbox.stats.faults == 0 and sandbox.stats.restarts == 0


BURNERS = {
    "side by side": "for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done\nwait\n",
    "one after the other": "while :; do (i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done); done\n",
    "left alone": "((while :; do :; done) & (while :; do :; done) &)\nsleep 19\n",
}


@pytest.mark.parametrize("name", BURNERS)
def test_the_cpu_limit_is_that_of_all_processes_of_a_run(shell, name):
    with open_sandbox("local", workers=1) as sandbox:
        if sandbox.tier < 3:
            pytest.skip(f"tier {sandbox.tier} here: {sandbox.declined}")
        limits, message = Limits(cpu_s=0.5, wall_s=20.0), "used more than 0.5 s of CPU time"
        for _ in range(2):  # what the first one used is not the second one's
            result = run(sandbox, "shell", BURNERS[name], limits=limits)
            assert (result.status, result.message) == ("timeout", message)
            honest = run(sandbox, "shell", "read a; echo $a\n", f"{name}\n", limits=limits)
            assert honest.stdout == f"{name}\n"
        assert sandbox.stats.deadlines == sandbox.stats.faults == 0


def test_a_language_that_needs_processes_is_refused_at_tier_two(shell):
    with open_sandbox("local:2", workers=1) as sandbox:
        if sandbox.tier != 2:
            pytest.skip(f"tier {sandbox.tier} here: {sandbox.declined}")
        result = run(sandbox, "shell", "echo hi\n")
        assert result.status == "unscorable"
        assert result.message.startswith("shell is not available at this tier (2)")


def test_a_missing_toolchain_is_named_and_never_a_wrong_answer(walled, monkeypatch):
    row = dataclasses.replace(LANGUAGES["c"], compile=("no-such-compiler", "{sources}"))
    monkeypatch.setitem(languages.LANGUAGES, "c", row)
    result = run(walled, "c", ADD["c"])
    assert result.status == "unscorable"
    assert result.message == (
        "c programs need no-such-compiler, not found on the PATH: install GCC and the C library's "
        "headers (Debian and Ubuntu: apt-get install gcc libc6-dev)"
    )


@needs_gcc
def test_a_toolchain_that_does_not_work_behind_the_walls_is_said_to_and_not_tried_again():
    broken = dataclasses.replace(LANGUAGES["c"], name="broken", reads=("/usr/bin",))
    with open_sandbox(workers=1) as sandbox, pytest.MonkeyPatch.context() as patch:
        if sandbox.tier < 2:
            pytest.skip(f"tier {sandbox.tier} here: {sandbox.declined}")
        patch.setitem(languages.LANGUAGES, "broken", broken)
        for _ in range(2):
            result = run(sandbox, "broken", ADD["c"])
            assert result.status == "unscorable"
            assert "stdio.h: No such file or directory" in result.message or (
                "Permission denied" in result.message
            )
        assert sandbox.stats.executions == 0


@needs_gcc
def test_python_runs_of_the_same_sandbox_still_start_nothing(walled):
    assert run(walled, "c", ADD["c"], "1 1").exit_code == 3
    text = "import os\ntry:\n    os.fork()\nexcept OSError as error:\n    print(error.strerror)\n"
    files = {"main.py": text}
    assert walled.run_program(files, "main.py", "").stdout == "Operation not permitted\n"
    text = "import os\nos.execv('/usr/bin/gcc', ['gcc'])\n"
    assert walled.run_program({"main.py": text}, "main.py", "").exit_code == 1


@needs_gcc
def test_closing_ends_the_servers_of_every_language():
    with open_sandbox(workers=2) as sandbox:
        run(sandbox, "c", ADD["c"], "1 1")
        (pool,) = sandbox._toolboxes.opened
        pids = [keeper._worker.server.pid for keeper in pool._keepers]
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_command_is_filled_word_by_word():
    command = ("cc", "-x{memory_mb}", "{sources}", "-o", "{entry}")
    assert fill(command, memory_mb=5, sources=["a b.c", "c.c"], entry="e f") == [
        "cc", "-x5", "a b.c", "c.c", "-o", "e f",
    ]  # fmt: skip
