"""Class 13: talk to the world: connect, listen, fetch."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

HERE = ("call", "program")
"""Two modes of three: walls do not depend on how values are compared."""


def _talk(name, tries, body, effect="network:", like="context", modes=HERE, **more):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = f"import os, socket, time\n\ndef f(n):\n{lines}    return 0\n"
    return Attack(name, 13, tries, program, "equal", twin(like), effect, modes=modes, **more)


def _opened(name, tries, body, like="context"):
    """It answers "open" if the socket was to be had: a pass is the effect."""
    return _talk(name, tries, body + "\nreturn 'open'", "", like, cases=(((3,), "open"),))


ATTACKS = (
    _talk(
        "connect-tcp",
        "Connects to a server of the machine.",
        "socket.create_connection(('127.0.0.1', 47011), 1).send(b'hello')",
        fast=True,
    ),
    _talk(
        "send-udp",
        "Sends a datagram.",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'hello', ('127.0.0.1', 47011))",
    ),
    _talk(
        "connect-abstract",
        "Connects to a unix socket that has no file.",
        "socket.socket(socket.AF_UNIX).connect('\\0hostile-canary')",
    ),
    _talk(
        "fetch-url",
        "Fetches an answer by HTTP.",
        "import urllib.request\ntry:\n"
        "    urllib.request.urlopen('http://127.0.0.1:47011/', timeout=1)\n"
        "except OSError:\n    pass",
    ),
    _talk(
        "connect-by-libc",
        "Connects with the C library.",
        "import ctypes, struct\nlibc = ctypes.CDLL(None)\nfd = libc.socket(2, 1, 0)\n"
        "port = struct.pack('<H', 2) + struct.pack('>H', 47011)\n"
        "libc.connect(fd, port + bytes([127, 0, 0, 1]) + bytes(8), 16)",
        like="ctypes",
    ),
    _talk(
        "listen-tcp",
        "Opens a port and leaves a server behind.",
        "server = socket.create_server(('127.0.0.1', 47999))\nserver.listen()\n"
        "if os.fork() == 0:\n    time.sleep(60)",
        "socket:",
    ),
    _talk(
        "listen-abstract",
        "The same with an abstract unix socket.",
        "server = socket.socket(socket.AF_UNIX)\nserver.bind('\\0mine')\nserver.listen()\n"
        "if os.fork() == 0:\n    time.sleep(60)",
        "socket:",
    ),
    _opened(
        "socket-ipv6",
        "Opens an IPv6 socket.",
        "socket.socket(socket.AF_INET6).bind(('::1', 0))",
    ),
    _opened(
        "netlink",
        "Asks the kernel for its interfaces.",
        "import struct\nlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n"
        "link.bind((0, 0))\nlink.send(struct.pack('=IHHIIB3x', 20, 18, 0x301, 1, 0, 0))\n"
        "link.recv(100)",
    ),
    _opened(
        "socket-file",
        "Makes a unix socket in the file system.",
        "server = socket.socket(socket.AF_UNIX)\nserver.bind('/canary/socket')\n"
        "os.remove('/canary/socket')",
    ),
)
