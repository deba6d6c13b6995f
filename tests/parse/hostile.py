"""A worker with one more format: documents that do on purpose what a parser's bug might do. Run by test_sandbox."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from indexer.parse import registry
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions
from indexer.parse.worker import main

MAGIC = b"HOSTILE "


def _hang() -> None:
    while True:
        pass


def _blow_up() -> None:
    hoard = []
    while True:
        hoard.append(bytearray(1 << 24))


def _network() -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.socket(2, 1, 0)
    try:
        socket.socket()
    except PermissionError as error:
        return f"fd {number} errno {ctypes.get_errno()}, {error}"
    return "a socket"


def _program() -> str:
    try:
        os.execv("/bin/true", ["true"])
    except PermissionError:
        return "no programs"
    return "ran"


def _write() -> str:
    try:
        Path("/tmp/longdoc-escaped").write_text("x")
    except PermissionError:
        return "no writing"
    return "wrote"


def _nonsense() -> None:
    for number in range(3, 16):
        try:
            os.write(number, b"\x00\x00\x00\x02[]" * 50)
        except OSError:
            continue


DEEDS: dict[str, Callable[[], object]] = {
    "crash": lambda: ctypes.string_at(1),
    "exit": lambda: os._exit(3),
    "hang": _hang,
    "sleep": lambda: time.sleep(600),
    "blow up": _blow_up,
    "network": _network,
    "program": _program,
    "write": _write,
    "nonsense": _nonsense,
    "print": lambda: os.write(1, b"\x00\x00\x00\x02{}"),
    "raise": lambda: {}["missing"],
    "recurse": lambda: eval("(" * 90 + ")" * 90),
    "pid": os.getpid,
}


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    _, pages, deed = path.read_text().split(" ", 2)
    facts.page_count = int(pages) + 1
    for number in range(int(pages)):
        yield RawPage(f"Page {number + 1} is fine.\n", number + 1)
    yield RawPage(f"{DEEDS[deed]()}\n", int(pages) + 1)


def _recognise(sample: Sample) -> int:
    return 100 if sample.head.startswith(MAGIC) else 0


if __name__ == "__main__":
    formats = (*registry.known_formats(), Format("hostile", "test/hostile", (), "", _recognise, _extract))
    registry.known_formats = lambda: formats  # type: ignore[assignment]  # only in this process
    sys.modules["tests.parse.hostile"] = sys.modules["__main__"]
    main()
