"""Turns old Office files into new ones with LibreOffice, in a process of its own with its own limits and profile."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.datatypes import Status
from indexer.parse.model import Sample, UnreadableError
from indexer.parse.registry import detect_format

_TARGETS = {"doc": "docx", "xls": "xlsx", "ppt": "pptx"}


def needed_target(path: Path) -> str | None:
    """What a file has to be turned into before it can be read; None for nearly all files."""
    try:
        with path.open("rb") as file:
            if file.read(8) != b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
                return None
        return _TARGETS.get(detect_format(Sample.of(path)).name)
    except (OSError, UnreadableError):
        return None


def program() -> str | None:
    """LibreOffice's command, where it is installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


@contextmanager
def converted(path: Path, target: str, seconds: float) -> Iterator[Path]:
    """The file in its new form, for as long as the context lasts. Raises UnreadableError."""
    command = program()
    assert command is not None
    with tempfile.TemporaryDirectory(prefix="longdoc-office-") as folder:
        source = Path(folder) / f"document{path.suffix}"
        shutil.copyfile(path, source)
        profile = f"-env:UserInstallation=file://{folder}/profile"
        arguments = ["--headless", "--norestore", "--nolockcheck", "--convert-to", target, "--outdir", f"{folder}/out"]
        _run([*_without_network(), command, profile, *arguments, os.fspath(source)], folder, seconds)
        found = Path(folder) / "out" / f"document.{target}"
        if not found.exists():
            raise UnreadableError(Status.FAILED, "LibreOffice could not read it")
        yield found


def _without_network() -> list[str]:
    unshare = shutil.which("unshare")
    works = unshare and subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode == 0
    return [unshare, "-rn"] if unshare and works else []


def _run(command: list[str], folder: str, seconds: float) -> None:
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise UnreadableError(Status.TIMED_OUT, f"LibreOffice did not finish in {seconds:g} s") from error
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
