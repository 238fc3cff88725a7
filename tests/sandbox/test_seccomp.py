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
        elif code == 0x06:
            return value
        else:
            truth = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            at += if_true if truth else if_false


@pytest.fixture(params=[True, False], ids=["signals allowed", "signals refused"])
def program(request):
    return request.param, seccomp.build("x86_64", allow_signals=request.param)


def test_every_call_is_decided_as_the_table_says(program):
    allow_signals, code = program
    refused = {int(word) for word in seccomp.X86_64.split()[1::2]}
    signals = {int(word) for word in seccomp.X86_64_SIGNALS.split()[1::2]}
    refused |= set() if allow_signals else signals
    for number in range(0, 456):
        if number in (44, 53, 56, 302, 435):
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


def test_unknown_calls_are_refused_and_other_machines_end_the_process(program):
    assert decide(program[1], 460) == seccomp.ENOSYS
    assert decide(program[1], 0x40000000 + 41) == seccomp.ENOSYS  # x32
    assert decide(program[1], 41, machine=0x40000003) == seccomp.KILL  # 32-bit x86


def test_a_machine_without_a_table_has_no_filter():
    assert seccomp.build("riscv64", allow_signals=True) is None
