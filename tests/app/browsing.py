"""A real server and a real browser for the tests: `longdoc ui` with the fake encoder, Debian's Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "artefacts"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120_000
"""Milliseconds: a busy machine is slow, and no test says how fast a page has to be."""
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass
class Seen:
    """What a browser did beside showing pages: requests that left loopback, and errors on its console."""

    elsewhere: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("request", self._request)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _request(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
            self.elsewhere.append(request.url)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)


def environment(home: Path) -> dict[str, str]:
    """The environment of a person whose files all lie in ``home`` and whose encoder is the fake."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LONGDOC_")}
    return kept | {
        "HOME": str(home),
        "LONGDOC_CONFIG": str(home / "config.toml"),
        "LONGDOC_CACHE": str(home / "cache"),
        "LONGDOC_UI_ROOTS": str(home),
        "PYTHONPATH": f"{ROOT / 'tests' / 'app' / 'faked'}{os.pathsep}{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def longdoc(home: Path, *arguments: str, extra: Mapping[str, str] | None = None) -> str:
    """Run the command line to its end and give what it prints; its library is ``home/library``."""
    command = [sys.executable, "-m", "indexer", "--library", str(home / "library"), *arguments]
    environs = environment(home) | dict(extra or {})
    return subprocess.run(command, env=environs, check=True, capture_output=True, text=True, timeout=600).stdout


def keep_result(library: Path, verb: str, printed: str, *options: str) -> None:
    """Put the record of a job that came to its end beside the library, with what its verb printed."""
    folder = library / "jobs" / "20260101-000000-000000"
    folder.mkdir(parents=True)
    record = {"what": [verb, *options, "--json"], "started": "2026-01-01T00:00:00+00:00", "pid": 1, "born": None}
    (folder / "job.json").write_text(json.dumps(record))
    (folder / "log").write_text('{"event": "done"}\n')
    (folder / "result").write_text(printed)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def served(
    home: Path, *options: str, port: int | None = None, environs: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run `longdoc ui` and give its address; it is stopped with all it started."""
    port = port or free_port()
    command = [sys.executable, "-m", "indexer", "--library", str(home / "library"), "ui", "--port", str(port), *options]
    environs = environs or environment(home)
    process = subprocess.Popen(command, env=environs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _await(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(900):
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            if process.poll() is not None:
                raise AssertionError(process.communicate()[1].decode()) from None
            time.sleep(0.2)
        else:
            return
    raise AssertionError("the server did not answer within three minutes")


def opened(context: BrowserContext, seen: Seen, url: str) -> Page:
    """Open an address in a new tab and wait until the page is drawn."""
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    seen.watch(page)
    page.goto(url)
    settled(page)
    return page


def settled(page: Page) -> None:
    """Wait until the foot of the page is there and Streamlit has stopped running."""
    page.wait_for_selector(".ld-foot", state="attached", timeout=PATIENCE)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENCE)
    page.wait_for_timeout(150)


def tiny_pdf(lines: list[tuple[int, int, str]], title: str) -> bytes:
    """A PDF of one page, 612 by 792 points, with lines of 18 point Helvetica whose baselines start at (x, y)."""
    drawing = "".join(f"BT /F1 18 Tf {x} {y} Td ({text}) Tj ET\n" for x, y, text in lines).encode("ascii")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%sendstream" % (len(drawing), drawing),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (%s) >>" % title.encode("ascii"),
    ]
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer << /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table) + trailer
