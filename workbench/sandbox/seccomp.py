"""A filter of system calls: which ones a confined run may not make, as a seccomp program.

Stage: sandbox (server side, Linux). A processor's name goes in; the bytes of a classic BPF
program come out, or None where the numbers are not known. Threads may be started; processes,
programs, sockets, mounts, namespaces, shared memory outside the address-space limit, tracing and
changes to other processes are refused. Numbers past the last one named here are refused too.
Left out: an allow-list, which would be the stronger form.
"""

from __future__ import annotations

import struct

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x00050000 | 1, 0x00050000 | 38
THREADS_ONLY = "threads only"
OWN_LIMITS, LOCAL_PAIR, NO_ADDRESS = ("equal", 0, 0), ("equal", 0, 1), ("equal", 4, 0)
NO_FCNTL_OWNER, NO_IOCTL_OWNER = ("not", 1, (8, 15)), ("not", 1, (0x8901, 0x8902))
"""Decided by an argument: clone passes for threads, prlimit64 for the calling process, socketpair
for AF_UNIX and sendto without an address (an asyncio loop wakes itself through such a pair); fcntl
and ioctl pass unless they name a process for a descriptor to signal (with SIGKILL, if asked to)."""

START_PROGRAM = ("execve",)
START_PROCESSES = (*START_PROGRAM, "fork", "vfork", "clone", "seccomp")
"""What `build` lets through where runs start compilers and interpreters. The last one lets a
process load a further filter, which can only forbid more."""
NO_SHARED_MEMORY, NO_NAMESPACES = ("not all of", 3, 0x21), ("none of", 0, 0x7E020000)
"""Decided by bits of an argument where programs start: mmap without MAP_SHARED | MAP_ANONYMOUS,
which is memory that counts as nobody's data; clone without any CLONE_NEW flag."""

_AUDIT_X86_64 = 0xC000003E
_CLONE_THREAD = 0x00010000

X86_64 = """
shmget 29 shmat 30 shmctl 31 socket 41 connect 42 accept 43 sendmsg 46 recvmsg 47 shutdown 48
bind 49 listen 50 getsockname 51 getpeername 52 setsockopt 54 getsockopt 55 fork 57 vfork 58
execve 59 semget 64 semop 65 semctl 66 shmdt 67 msgget 68 msgsnd 69 msgrcv 70 msgctl 71 ptrace 101
syslog 103 setpgid 109 setsid 112 personality 135 setpriority 141 sched_setparam 142
sched_setscheduler 144 vhangup 153 modify_ldt 154 pivot_root 155 prctl 157 adjtimex 159 chroot 161
sync 162 acct 163 settimeofday 164 mount 165 umount2 166 swapon 167 swapoff 168 reboot 169
sethostname 170 setdomainname 171 iopl 172 ioperm 173 create_module 174 init_module 175
delete_module 176 get_kernel_syms 177 query_module 178 quotactl 179 nfsservctl 180
sched_setaffinity 203 io_setup 206 io_destroy 207 io_getevents 208 io_submit 209 io_cancel 210
lookup_dcookie 212 semtimedop 220 clock_settime 227 mbind 237 set_mempolicy 238 mq_open 240
mq_unlink 241 mq_timedsend 242 mq_timedreceive 243 mq_notify 244 mq_getsetattr 245 kexec_load 246
add_key 248 request_key 249 keyctl 250 ioprio_set 251 migrate_pages 256 unshare 272 splice 275
tee 276 vmsplice 278 move_pages 279 accept4 288 perf_event_open 298 recvmmsg 299 fanotify_init 300
fanotify_mark 301 name_to_handle_at 303 open_by_handle_at 304 clock_adjtime 305 syncfs 306
sendmmsg 307 setns 308 process_vm_readv 310 process_vm_writev 311 kcmp 312 finit_module 313
sched_setattr 314 seccomp 317 memfd_create 319 kexec_file_load 320 bpf 321 execveat 322
userfaultfd 323 mlock2 325 pidfd_send_signal 424 io_uring_setup 425 io_uring_enter 426
io_uring_register 427 open_tree 428 move_mount 429 fsopen 430 fsconfig 431 fsmount 432 fspick 433
pidfd_open 434 pidfd_getfd 438 process_madvise 440 mount_setattr 442 quotactl_fd 443
landlock_create_ruleset 444 landlock_add_rule 445 landlock_restrict_self 446 memfd_secret 447
process_mrelease 448
"""
"""Names and numbers refused with EPERM on x86-64."""
X86_64_SIGNALS = "kill 62 rt_sigqueueinfo 129 tkill 200 tgkill 234 rt_tgsigqueueinfo 297"
"""Refused as well where no pid namespace hides other processes."""
X86_64_METADATA = """
chmod 90 fchmod 91 chown 92 fchown 93 lchown 94 utime 132 setxattr 188 lsetxattr 189 fsetxattr 190
removexattr 197 lremovexattr 198 fremovexattr 199 utimes 235 fchownat 260 futimesat 261
fchmodat 268 utimensat 280 fchmodat2 452
"""
"""Refused as well where no mount namespace hides your files: Landlock rules what is in a file, not
who may use it, and a run often has your user id."""
_X86_64_LAST = 456


def build(machine, *, own_world, allow=()):
    """The program for `machine` ("x86_64"), or None where the system call numbers are not known.

    own_world: True where namespaces hide all processes and files but the run's own.
    allow: names of calls that are let through although they are listed: START_PROGRAM, say.
    """
    if machine != "x86_64":
        return None
    more = "" if own_world else f" {X86_64_SIGNALS} {X86_64_METADATA}"
    words = (X86_64 + more).split()
    rules = dict.fromkeys(map(int, words[1::2]), EPERM)
    rules |= {44: NO_ADDRESS, 53: LOCAL_PAIR, 56: THREADS_ONLY, 302: OWN_LIMITS}
    rules |= {} if own_world else {16: NO_IOCTL_OWNER, 72: NO_FCNTL_OWNER}
    rules |= {435: ENOSYS}  # clone3 hides its flags behind a pointer; libc falls back to clone
    if allow:
        numbers = dict(zip(words[::2], map(int, words[1::2])))
        rules |= {numbers[name]: ALLOW for name in allow if name != "clone"}
        rules |= {9: NO_SHARED_MEMORY} | ({56: NO_NAMESPACES} if "clone" in allow else {})
    check_machine = [
        _load(4),
        _jump(0x15, _AUDIT_X86_64, 1, 0),  # equal
        _return(KILL),
        _load(0),
        _jump(0x35, _X86_64_LAST + 1, 0, 1),  # greater or equal: new calls, and the x32 ones
        _return(ENOSYS),
    ]
    return b"".join(check_machine + _tree(_ranges(rules)))


def _ranges(rules):
    """[(first number, action)] in order: each action holds up to the next entry."""
    ranges = [(0, rules.get(0, ALLOW))]
    for number in range(1, _X86_64_LAST + 1):
        action = rules.get(number, ALLOW)
        if action != ranges[-1][1]:
            ranges.append((number, action))
    return ranges


def _tree(ranges):
    """A balanced search: the kernel walks it once per known call when the filter is loaded."""
    if len(ranges) == 1:
        return _decide(ranges[0][1])
    middle = len(ranges) // 2
    low, high = _tree(ranges[:middle]), _tree(ranges[middle:])
    assert len(low) < 256, "a jump's length is one byte"
    return [_jump(0x35, ranges[middle][0], len(low), 0)] + low + high


def _decide(action):
    if action == THREADS_ONLY:
        return [_load(16), _jump(0x45, _CLONE_THREAD, 0, 1), _return(ALLOW), _return(EPERM)]
    if isinstance(action, tuple) and action[0] in ("not all of", "none of"):
        kind, argument, bits = action
        masked = [_load(16 + 8 * argument), _jump(0x54, bits, 0, 0)]  # not a jump: accumulator &=
        if kind == "none of":
            return [*masked, _jump(0x15, 0, 1, 0), _return(EPERM), _return(ALLOW)]
        return [*masked, _jump(0x15, bits, 0, 1), _return(EPERM), _return(ALLOW)]
    if isinstance(action, tuple) and action[0] == "not":
        _, argument, values = action  # commands are 32 bits: the kernel ignores the other word
        jumps = [_jump(0x15, v, len(values) - i, 0) for i, v in enumerate(values)]
        return [_load(16 + 8 * argument), *jumps, _return(ALLOW), _return(EPERM)]
    if isinstance(action, tuple):
        _, argument, value = action
        low, high = 16 + 8 * argument, 20 + 8 * argument  # each argument is two words
        checks = [_load(low), _jump(0x15, value, 0, 3), _load(high), _jump(0x15, 0, 0, 1)]
        return checks + [_return(ALLOW), _return(EPERM)]
    return [_return(action)]


def _load(offset):
    return struct.pack("<HBBI", 0x20, 0, 0, offset)


def _jump(code, value, if_true, if_false):
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _return(action):
    return struct.pack("<HBBI", 0x06, 0, 0, action)
