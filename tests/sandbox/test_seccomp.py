"""The filter's program, interpreted by hand, decides each system call as the table says."""

import struct

import pytest

from workbench.sandbox import seccomp

X86_64 = 0xC000003E


def decide(program, number, machine=X86_64, args=(0, 0, 0, 0, 0, 0)):
    """What the kernel would do: run the classic BPF program on one call's data."""
    data = struct.pack("<iIQ6Q", number, machine, 0, *args)
    steps = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
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


@pytest.fixture(params=[True, False], ids=["own world", "shared world"])
def program(request):
    return request.param, seccomp.build("x86_64", own_world=request.param)


def test_every_call_is_decided_as_the_table_says(program):
    own_world, code = program
    refused = {int(word) for word in seccomp.X86_64.split()[1::2]}
    for table in () if own_world else (seccomp.X86_64_SIGNALS, seccomp.X86_64_METADATA):
        refused |= {int(word) for word in table.split()[1::2]}
    for number in range(0, 456):
        if number in (44, 53, 56, 302, 435):  # decided by an argument
            continue
        expected = seccomp.EPERM if number in refused else seccomp.ALLOW
        assert decide(code, number) == expected, number


def test_clone_passes_for_threads_only(program):
    thread, process = 0x3D0F00, 0x1200011  # the flags glibc uses for a thread and for fork
    assert decide(program[1], 56, args=(thread, 0, 0, 0, 0, 0)) == seccomp.ALLOW
    assert decide(program[1], 56, args=(process, 0, 0, 0, 0, 0)) == seccomp.EPERM
    assert decide(program[1], 435) == seccomp.ENOSYS


def test_limits_may_be_set_for_the_calling_process_only(program):
    assert decide(program[1], 302, args=(0, 7, 0x7FFF0000, 0, 0, 0)) == seccomp.ALLOW
    assert decide(program[1], 302, args=(1234, 7, 0x7FFF0000, 0, 0, 0)) == seccomp.EPERM


def test_a_socket_pair_for_oneself_passes_and_nothing_that_reaches_further(program):
    unix, inet = 1, 2
    assert decide(program[1], 53, args=(unix, 1, 0, 0, 0, 0)) == seccomp.ALLOW
    assert decide(program[1], 53, args=(inet, 1, 0, 0, 0, 0)) == seccomp.EPERM
    assert decide(program[1], 44, args=(5, 1, 1, 0, 0, 0)) == seccomp.ALLOW
    assert decide(program[1], 44, args=(5, 1, 1, 0, 1 << 40, 16)) == seccomp.EPERM
    assert decide(program[1], 41) == seccomp.EPERM


def test_no_descriptor_may_signal_a_process_where_others_can_be_seen(program):
    own_world, code = program
    for call, commands in ((72, (8, 15)), (16, (0x8901, 0x8902))):  # fcntl, ioctl
        for command in commands:
            expected = seccomp.ALLOW if own_world else seccomp.EPERM
            assert decide(code, call, args=(5, command, 1234, 0, 0, 0)) == expected
            assert decide(code, call, args=(5, command | 1 << 32, 1234, 0, 0, 0)) == expected
        assert decide(code, call, args=(5, 3, 0, 0, 0, 0)) == seccomp.ALLOW


def test_unknown_calls_are_refused_and_other_machines_end_the_process(program):
    assert decide(program[1], 460) == seccomp.ENOSYS
    assert decide(program[1], 0x40000000 + 41) == seccomp.ENOSYS  # x32
    assert decide(program[1], 41, machine=0x40000003) == seccomp.KILL  # 32-bit x86


def test_a_machine_without_a_table_has_no_filter():
    assert seccomp.build("riscv64", own_world=True) is None


@pytest.fixture(params=[True, False], ids=["own world", "shared world"])
def toolbox(request):
    return [
        seccomp.build("x86_64", own_world=request.param, allow=names)
        for names in (seccomp.START_PROCESSES, seccomp.START_PROGRAM)
    ]


def test_where_programs_start_processes_may_be_made_and_no_namespaces(toolbox):
    starts, alone = toolbox
    process, thread, user_namespace = 0x1200011, 0x3D0F00, 0x10000011
    assert decide(starts, 56, args=(process, 0, 0, 0, 0, 0)) == seccomp.ALLOW
    assert decide(starts, 56, args=(thread, 0, 0, 0, 0, 0)) == seccomp.ALLOW
    assert decide(starts, 56, args=(user_namespace, 0, 0, 0, 0, 0)) == seccomp.EPERM
    for number in (57, 58, 59, 317):  # fork, vfork, execve, seccomp
        assert decide(starts, number) == seccomp.ALLOW
    assert decide(alone, 59) == seccomp.ALLOW
    assert decide(alone, 56, args=(process, 0, 0, 0, 0, 0)) == seccomp.EPERM
    for number in (57, 58, 317):
        assert decide(alone, number) == seccomp.EPERM


def test_where_programs_start_nothing_else_is_new(toolbox, program):
    for code in toolbox:
        for number in set(range(456)) - {9, 56, 57, 58, 59, 317}:
            own = decide(seccomp.build("x86_64", own_world=True), number)
            shared = decide(seccomp.build("x86_64", own_world=False), number)
            assert decide(code, number) in (own, shared), number


def test_memory_that_counts_as_nobodys_is_refused_where_data_is_limited(toolbox):
    shared, private, anonymous = 1, 2, 0x20
    for code in toolbox:
        for flags, decision in (
            (private | anonymous, seccomp.ALLOW),
            (shared, seccomp.ALLOW),  # of a file
            (shared | anonymous, seccomp.EPERM),
            (3 | anonymous | 0x4000, seccomp.EPERM),  # MAP_SHARED_VALIDATE, MAP_NORESERVE
        ):
            assert decide(code, 9, args=(0, 1 << 20, 3, flags, 2**64 - 1, 0)) == decision
