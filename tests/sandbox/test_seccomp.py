"""The filter's program, interpreted by hand, decides each system call as the table says.

For both processors; that of arm64 has never run on one.
"""

import re
import struct
from pathlib import Path

import pytest

from workbench.sandbox import seccomp, syscalls

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {  # by hand from the kernel's tables; None = that processor has no such call
    "clone": (56, 220), "clone3": (435, 435), "execve": (59, 221), "execveat": (322, 281),
    "fcntl": (72, 25), "fork": (57, None), "ioctl": (16, 29), "kill": (62, 129), "mmap": (9, 222),
    "mount": (165, 40), "openat": (257, 56), "prlimit64": (302, 261), "ptrace": (101, 117),
    "read": (0, 63), "seccomp": (317, 277), "sendto": (44, 206), "setsid": (112, 157),
    "socket": (41, 198), "socketpair": (53, 199), "tgkill": (234, 131), "unshare": (272, 97),
    "fchmodat": (268, 53), "chmod": (90, None), "vfork": (58, None), "write": (1, 64),
    "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425), "exit_group": (231, 94),
}  # fmt: skip


def decide(program, number, machine, args=(0, 0, 0, 0, 0, 0)):
    """What the kernel would do: run the classic BPF program on one call's data."""
    data = struct.pack("<iIQ6Q", number, machine, 0, *args)
    instructions = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x06:
            return value
        else:
            truth = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            at += if_true if truth else if_false


class Kernel:
    """A processor and the filter on it."""

    def __init__(self, machine, own_world, allow=()):
        self.machine, self.own_world = machine, own_world
        self.program = seccomp.build(machine, own_world=own_world, allow=allow)

    def number(self, name):
        return NUMBERS[name][list(AUDIT).index(self.machine)]

    def __call__(self, call, *args):
        """The decision on a call, by name (None if there is no such call) or number."""
        number = self.number(call) if isinstance(call, str) else call
        if number is None:
            return None
        args += (0,) * (6 - len(args))
        return decide(self.program, number, AUDIT[self.machine], args)


@pytest.fixture(params=[True, False], ids=["own world", "shared world"])
def own_world(request):
    return request.param


@pytest.fixture(params=AUDIT)
def kernel(request, own_world):
    return Kernel(request.param, own_world)


def test_every_call_is_decided_as_the_table_says(kernel):
    table = syscalls.find(kernel.machine)
    refused = set(table.refused.values())
    if not kernel.own_world:
        refused |= {*table.signals.values(), *table.metadata.values()}
    for number in set(range(456)) - set(table.decided.values()):
        expected = seccomp.EPERM if number in refused else seccomp.ALLOW
        assert kernel(number) == expected, number


def test_chosen_calls_by_their_numbers(kernel):
    for name in ("read", "write", "openat", "exit_group", "mmap", "fcntl", "ioctl"):
        assert kernel(name) == seccomp.ALLOW, name
    for name in ("execve", "execveat", "fork", "vfork", "mount", "ptrace", "seccomp", "setsid",
                 "socket", "unshare", "pidfd_send_signal", "io_uring_setup"):  # fmt: skip
        assert kernel(name) in (seccomp.EPERM, None), name
    for name in ("kill", "tgkill", "chmod", "fchmodat"):
        expected = seccomp.ALLOW if kernel.own_world else seccomp.EPERM
        assert kernel(name) in (expected, None), name


def defined_in(path):
    """{name: number} of a header of the kernel's, the 64-bit ones where there are two."""
    if not Path(path).exists():
        pytest.skip(f"{path} is not installed (Debian and Ubuntu: apt-get install linux-libc-dev)")
    found = {}
    for name, number in re.findall(r"define __NR(?:3264)?_(\w+)\s+(\d+)", Path(path).read_text()):
        found.setdefault(name, int(number))
    return found


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_the_numbers_are_those_of_the_kernels_headers(machine, header):
    known = defined_in(header)
    table = syscalls.find(machine)
    newer = {"fchmodat2"}  # than the headers of some systems
    for numbers in table[1:]:
        for name, number in numbers.items():
            assert known.get(name, number if name in newer else None) == number, name
    here = list(AUDIT).index(machine)
    for name, numbers in NUMBERS.items():
        assert known.get(name) == numbers[here], name


def test_both_processors_refuse_the_same_calls_as_far_as_they_have_them():
    known = defined_in("/usr/include/asm-generic/unistd.h")
    x86, arm = map(syscalls.find, AUDIT)
    for x86_numbers, arm_numbers in zip(x86[1:], arm[1:]):
        there = {name for name in x86_numbers if name in known or name in arm_numbers}
        assert set(arm_numbers) == there


def test_clone_passes_for_threads_only(kernel):
    thread, process = 0x3D0F00, 0x1200011  # the flags glibc uses for a thread and for fork
    assert kernel("clone", thread) == seccomp.ALLOW
    assert kernel("clone", process) == seccomp.EPERM
    assert kernel("clone3") == seccomp.ENOSYS


def test_limits_may_be_set_for_the_calling_process_only(kernel):
    assert kernel("prlimit64", 0, 7, 0x7FFF0000) == seccomp.ALLOW
    assert kernel("prlimit64", 1234, 7, 0x7FFF0000) == seccomp.EPERM


def test_a_socket_pair_for_oneself_passes_and_nothing_that_reaches_further(kernel):
    unix, inet = 1, 2
    assert kernel("socketpair", unix, 1) == seccomp.ALLOW
    assert kernel("socketpair", inet, 1) == seccomp.EPERM
    assert kernel("sendto", 5, 1, 1, 0) == seccomp.ALLOW
    assert kernel("sendto", 5, 1, 1, 0, 1 << 40, 16) == seccomp.EPERM
    assert kernel("socket", unix, 1) == seccomp.EPERM


def test_no_descriptor_may_signal_a_process_where_others_can_be_seen(kernel):
    for call, commands in (("fcntl", (8, 15)), ("ioctl", (0x8901, 0x8902))):
        for command in commands:
            expected = seccomp.ALLOW if kernel.own_world else seccomp.EPERM
            assert kernel(call, 5, command, 1234) == expected
            assert kernel(call, 5, command | 1 << 32, 1234) == expected
        assert kernel(call, 5, 3) == seccomp.ALLOW


def test_unknown_calls_are_refused_and_other_machines_end_the_process(kernel):
    assert kernel(460) == seccomp.ENOSYS
    others = {0x40000003, 0x40000028, *AUDIT.values()} - {AUDIT[kernel.machine]}  # 32-bit x86, ARM
    for audit in others:
        for name in ("read", "socket"):
            assert decide(kernel.program, kernel.number(name), audit) == seccomp.KILL


def test_the_numbers_of_x32_are_refused(own_world):
    assert Kernel("x86_64", own_world)(0x40000000 + 41) == seccomp.ENOSYS


@pytest.mark.parametrize("machine", ["riscv64", "aarch64_be", "arm64", "i686", ""])
def test_a_machine_without_a_table_has_no_filter(machine):
    assert seccomp.build(machine, own_world=True) is None


@pytest.fixture(params=AUDIT)
def toolbox(request, own_world):
    allowed = seccomp.START_PROCESSES, seccomp.START_PROGRAM
    return [Kernel(request.param, own_world, names) for names in allowed]


def test_where_programs_start_processes_may_be_made_and_no_namespaces(toolbox):
    starts, alone = toolbox
    process, thread, user_namespace = 0x1200011, 0x3D0F00, 0x10000011
    assert starts("clone", process) == seccomp.ALLOW
    assert starts("clone", thread) == seccomp.ALLOW
    assert starts("clone", user_namespace) == seccomp.EPERM
    for name in ("fork", "vfork", "execve", "seccomp"):
        assert starts(name) in (seccomp.ALLOW, None)
    assert alone("execve") == seccomp.ALLOW
    assert alone("clone", process) == seccomp.EPERM
    for name in ("fork", "vfork", "seccomp"):
        assert alone(name) in (seccomp.EPERM, None)


def test_where_programs_start_nothing_else_is_new(toolbox):
    machine = toolbox[0].machine
    own, shared = Kernel(machine, True), Kernel(machine, False)
    changed = ("mmap", "clone", "fork", "vfork", "execve", "seccomp")
    for kernel in toolbox:
        for number in set(range(456)) - {kernel.number(name) for name in changed}:
            assert kernel(number) in (own(number), shared(number)), number


def test_memory_that_counts_as_nobodys_is_refused_where_data_is_limited(toolbox):
    shared, private, anonymous = 1, 2, 0x20
    for kernel in toolbox:
        for flags, decision in (
            (private | anonymous, seccomp.ALLOW),
            (shared, seccomp.ALLOW),  # of a file
            (shared | anonymous, seccomp.EPERM),
            (3 | anonymous | 0x4000, seccomp.EPERM),  # MAP_SHARED_VALIDATE, MAP_NORESERVE
        ):
            assert kernel("mmap", 0, 1 << 20, 3, flags, 2**64 - 1) == decision
