"""What a parser process gives up before it sees a document: memory, the network, programs, and writing files.

Best effort by what the system offers: rlimits everywhere; on Linux a seccomp filter that refuses sockets, programs and
tracing (kernel documentation, userspace-api/seccomp_filter) and a Landlock rule set that refuses writing outside the
scratch folder (userspace-api/landlock). ``confine`` says what took hold, so that it can be shown.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import socket
import struct
from pathlib import Path
from typing import Any, NoReturn

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # refuse: errno EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: ld abs word, jeq, jge, ret

# Audit architecture, then the numbers of: socket, socketpair, connect, bind, listen, accept, accept4, sendto, sendmsg,
# execve, execveat, ptrace, process_vm_readv, process_vm_writev, mount, umount2, bpf, io_uring_setup, kill
_CALLS = {
    "x86_64": (0xC000003E, (41, 53, 42, 49, 50, 43, 288, 44, 46, 59, 322, 101, 310, 311, 165, 166, 321, 425, 62)),
    "aarch64": (
        0xC00000B7,
        (198, 199, 203, 200, 201, 202, 242, 206, 211, 221, 281, 117, 270, 271, 40, 39, 280, 425, 129),
    ),
}
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_WRITES = (
    0b1_1111_1111_0010  # write_file, remove_*, make_*: the first version's rights without execute and read
)
_LANDLOCK_PATH_BENEATH = 1


def confine(memory_bytes: int, scratch: Path) -> list[str]:
    """Give up what parsing does not need; returns the names of the protections that took hold."""
    held = [_limit_resources(memory_bytes), _disable_sockets()]
    libc = ctypes.CDLL(None, use_errno=True)
    if platform.system() == "Linux" and libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        held += [name for name, done in (("landlock", _landlock(libc, scratch)), ("seccomp", _seccomp(libc))) if done]
    return held


def _limit_resources(memory_bytes: int) -> str:
    used = _address_space()
    resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, used + memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return "memory"


def _address_space() -> int:
    """Bytes of address space that this process has already; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _disable_sockets() -> str:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise PermissionError("a parser has no network")

    socket.socket.__init__ = refuse  # type: ignore[method-assign]  # the class stays: libraries derive from it
    vars(socket).update(create_connection=refuse, socketpair=refuse)
    return "no socket module"


def _seccomp(libc: Any) -> bool:
    """Refuse system calls that parsing never makes; ends the process on a call from another architecture's table."""
    if platform.machine() not in _CALLS:
        return False
    architecture, calls = _CALLS[platform.machine()]
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if platform.machine() == "x86_64":
        steps += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL)]  # the x32 table
    for place, call in enumerate(calls):
        steps.append((_EQUAL, len(calls) - place, 0, call))
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HP", len(steps), ctypes.addressof(code))
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.create_string_buffer(program), 0, 0) == 0)


def _landlock(libc: Any, scratch: Path) -> bool:
    """Refuse writing, making and removing files anywhere but below ``scratch``."""
    attributes = ctypes.create_string_buffer(struct.pack("Q", _LANDLOCK_WRITES))
    rules = libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    try:
        beneath = ctypes.create_string_buffer(struct.pack("=Qi", _LANDLOCK_WRITES, folder))
        added = libc.syscall(_LANDLOCK_ADD, rules, _LANDLOCK_PATH_BENEATH, beneath, 0)
        return bool(added == 0 and libc.syscall(_LANDLOCK_RESTRICT, rules, 0) == 0)
    finally:
        os.close(folder)
        os.close(rules)
