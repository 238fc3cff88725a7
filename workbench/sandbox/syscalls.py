"""The system calls that the filter is about: which are refused, and their numbers by processor.

Stage: sandbox (server side, Linux). A processor's name goes in, its table comes out; compared with
the kernel's headers by a test. Left out: processors that are in neither table. A call that is
unknown here, being newer than LAST, is refused by its number.
"""

from __future__ import annotations

from collections import namedtuple

LAST = 456
"""The last number that was looked at; from 424 on they are the same for all processors."""


class Machine(namedtuple("Machine", "audit refused signals metadata decided")):
    """The numbers of one processor.

    audit: how the kernel names it to a filter. refused: {name: number} of calls refused everywhere.
    signals: those refused as well where no pid namespace hides other processes. metadata: where no
    mount namespace hides your files: Landlock rules what is in a file, not who may use it, and a
    run often has your user id. decided: those whose arguments decide.
    """


def find(machine):
    """The Machine for what `uname -m` says, or None."""
    audit, *texts = _TABLES.get(machine, (0,))
    return Machine(audit, *map(_table, texts)) if texts else None


def _table(text):
    words = text.split()
    return dict(zip(words[::2], map(int, words[1::2])))


_X86_64 = """
shmget 29 shmat 30 shmctl 31 socket 41 connect 42 accept 43 sendmsg 46 recvmsg 47 shutdown 48
bind 49 listen 50 getsockname 51 getpeername 52 setsockopt 54 getsockopt 55 fork 57 vfork 58
execve 59 semget 64 semop 65 semctl 66 shmdt 67 msgget 68 msgsnd 69 msgrcv 70 msgctl 71
ptrace 101 syslog 103 setpgid 109 setsid 112 personality 135 setpriority 141 sched_setparam 142
sched_setscheduler 144 vhangup 153 modify_ldt 154 pivot_root 155 prctl 157 adjtimex 159
chroot 161 sync 162 acct 163 settimeofday 164 mount 165 umount2 166 swapon 167 swapoff 168
reboot 169 sethostname 170 setdomainname 171 iopl 172 ioperm 173 create_module 174
init_module 175 delete_module 176 get_kernel_syms 177 query_module 178 quotactl 179
nfsservctl 180 sched_setaffinity 203 io_setup 206 io_destroy 207 io_getevents 208 io_submit 209
io_cancel 210 lookup_dcookie 212 semtimedop 220 clock_settime 227 mbind 237 set_mempolicy 238
mq_open 240 mq_unlink 241 mq_timedsend 242 mq_timedreceive 243 mq_notify 244 mq_getsetattr 245
kexec_load 246 add_key 248 request_key 249 keyctl 250 ioprio_set 251 migrate_pages 256
unshare 272 splice 275 tee 276 vmsplice 278 move_pages 279 accept4 288 perf_event_open 298
recvmmsg 299 fanotify_init 300 fanotify_mark 301 name_to_handle_at 303 open_by_handle_at 304
clock_adjtime 305 syncfs 306 sendmmsg 307 setns 308 process_vm_readv 310 process_vm_writev 311
kcmp 312 finit_module 313 sched_setattr 314 seccomp 317 memfd_create 319 kexec_file_load 320
bpf 321 execveat 322 userfaultfd 323 mlock2 325 pidfd_send_signal 424 io_uring_setup 425
io_uring_enter 426 io_uring_register 427 open_tree 428 move_mount 429 fsopen 430 fsconfig 431
fsmount 432 fspick 433 pidfd_open 434 pidfd_getfd 438 process_madvise 440 mount_setattr 442
quotactl_fd 443 landlock_create_ruleset 444 landlock_add_rule 445 landlock_restrict_self 446
memfd_secret 447 process_mrelease 448
"""
_X86_64_SIGNALS = "kill 62 rt_sigqueueinfo 129 tkill 200 tgkill 234 rt_tgsigqueueinfo 297"
_X86_64_METADATA = """
chmod 90 fchmod 91 chown 92 fchown 93 lchown 94 utime 132 setxattr 188 lsetxattr 189
fsetxattr 190 removexattr 197 lremovexattr 198 fremovexattr 199 utimes 235 fchownat 260
futimesat 261 fchmodat 268 utimensat 280 fchmodat2 452
"""
_X86_64_DECIDED = """
mmap 9 ioctl 16 sendto 44 socketpair 53 clone 56 fcntl 72 prlimit64 302 clone3 435
"""
_AARCH64 = """
io_setup 0 io_destroy 1 io_submit 2 io_cancel 3 io_getevents 4 lookup_dcookie 18 ioprio_set 30
umount2 39 mount 40 pivot_root 41 nfsservctl 42 chroot 51 vhangup 58 quotactl 60 vmsplice 75
splice 76 tee 77 sync 81 acct 89 personality 92 unshare 97 kexec_load 104 init_module 105
delete_module 106 clock_settime 112 syslog 116 ptrace 117 sched_setparam 118
sched_setscheduler 119 sched_setaffinity 122 setpriority 140 reboot 142 setpgid 154 setsid 157
sethostname 161 setdomainname 162 prctl 167 settimeofday 170 adjtimex 171 mq_open 180
mq_unlink 181 mq_timedsend 182 mq_timedreceive 183 mq_notify 184 mq_getsetattr 185 msgget 186
msgctl 187 msgrcv 188 msgsnd 189 semget 190 semctl 191 semtimedop 192 semop 193 shmget 194
shmctl 195 shmat 196 shmdt 197 socket 198 bind 200 listen 201 accept 202 connect 203
getsockname 204 getpeername 205 setsockopt 208 getsockopt 209 shutdown 210 sendmsg 211
recvmsg 212 add_key 217 request_key 218 keyctl 219 execve 221 swapon 224 swapoff 225 mbind 235
set_mempolicy 237 migrate_pages 238 move_pages 239 perf_event_open 241 accept4 242 recvmmsg 243
fanotify_init 262 fanotify_mark 263 name_to_handle_at 264 open_by_handle_at 265 clock_adjtime 266
syncfs 267 setns 268 sendmmsg 269 process_vm_readv 270 process_vm_writev 271 kcmp 272
finit_module 273 sched_setattr 274 seccomp 277 memfd_create 279 bpf 280 execveat 281
userfaultfd 282 mlock2 284 kexec_file_load 294 pidfd_send_signal 424 io_uring_setup 425
io_uring_enter 426 io_uring_register 427 open_tree 428 move_mount 429 fsopen 430 fsconfig 431
fsmount 432 fspick 433 pidfd_open 434 pidfd_getfd 438 process_madvise 440 mount_setattr 442
quotactl_fd 443 landlock_create_ruleset 444 landlock_add_rule 445 landlock_restrict_self 446
memfd_secret 447 process_mrelease 448
"""
_AARCH64_SIGNALS = "kill 129 tkill 130 tgkill 131 rt_sigqueueinfo 138 rt_tgsigqueueinfo 240"
_AARCH64_METADATA = """
setxattr 5 lsetxattr 6 fsetxattr 7 removexattr 14 lremovexattr 15 fremovexattr 16 fchmod 52
fchmodat 53 fchownat 54 fchown 55 utimensat 88 fchmodat2 452
"""
_AARCH64_DECIDED = """
fcntl 25 ioctl 29 socketpair 199 sendto 206 clone 220 mmap 222 prlimit64 261 clone3 435
"""
_TABLES = {
    "x86_64": (0xC000003E, _X86_64, _X86_64_SIGNALS, _X86_64_METADATA, _X86_64_DECIDED),
    "aarch64": (0xC00000B7, _AARCH64, _AARCH64_SIGNALS, _AARCH64_METADATA, _AARCH64_DECIDED),
}
