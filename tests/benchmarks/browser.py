"""What a person waits for in the browser: the first page, a search, many people at once, work going on behind it.

    python -m tests.benchmarks.browser [--chunks 100000] [--folder DIR] [--sessions 20]

`longdoc ui` with the real encoder, on a library of that many chunks made for the purpose (see the benchmark `query`),
is opened in Debian's Chromium on the same machine. Measured are ten sessions that open a server just started; a first
page in a fresh browser session once the server is warm, and again in a browser that has been there before; searches
typed one after the other until their hits are drawn; and many sessions that search at once while the sample documents
are read into the same library. Beside each stand the processor seconds a page took, the server's and Chromium's apart:
colleagues have browsers of their own, here all share the server's processors.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import psutil
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from app import jobs
from indexer.encode import load_encoder
from indexer.library import Library
from indexer.settings import load_settings
from tests.app.browsing import CHROMIUM, FLAGS, ROOT, served
from tests.benchmarks.query import Texts, fill

PATIENCE = 120_000
BOX = "input[aria-label='Search your documents']"
DRAWN = """(text) => new URL(location).searchParams.get('q') === text
  && document.querySelector('.ld-title:not(.old), .st-key-reading h2:not(.ld-title)')
  && document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"""
TROUBLE = ".ld-problem, [data-testid=stException], [data-testid=stConnectionStatus]"


def prepare(home: Path, chunks: int) -> None:
    """Make the library, unless an earlier run has."""
    if (home / "filled").exists():
        return
    settings = load_settings()
    encoder = load_encoder(settings.encoder, settings=settings)
    settings = replace(settings, library=home / "library")
    with Library.open(settings.library, settings, create=True, write=True, encoder=encoder) as library:
        fill(library, chunks)
    (home / "filled").touch()


def environment(home: Path) -> dict[str, str]:
    """This person's caches with their converted encoder; settings and allowed folders of the benchmark's own."""
    own = {"LONGDOC_CONFIG": str(home / "config.toml"), "LONGDOC_UI_ROOTS": str(ROOT), "PYTHONPATH": str(ROOT)}
    return dict(os.environ) | own


class Visitor:
    """One session in a browser window of its own, and what went wrong in it."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.context, self.page = context, page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)

    @classmethod
    async def come(cls, browser: Browser) -> Visitor:
        """A fresh session that has cached nothing."""
        context = await browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
        context.set_default_timeout(PATIENCE)
        return cls(context, await context.new_page())

    async def open(self, url: str) -> float:
        """Seconds until the search box can be seen."""
        started = time.perf_counter()
        await self.page.goto(url, wait_until="commit")
        await self.page.wait_for_selector(BOX)
        return time.perf_counter() - started

    async def painted(self) -> float:
        """Seconds until the browser painted the first content, by its own clock."""
        script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
        return float(await self.page.evaluate(script)) / 1000

    async def search(self, text: str) -> float:
        """Seconds from Enter until the hits of this search stand on the page."""
        await self.page.fill(BOX, text)
        await self.page.evaluate("document.querySelectorAll('.ld-title').forEach((one) => one.classList.add('old'))")
        started = time.perf_counter()
        await self.page.press(BOX, "Enter")
        await self.page.wait_for_function(DRAWN, arg=text, polling=20)
        return time.perf_counter() - started

    async def trouble(self) -> list[str]:
        """What the page and its console say went wrong."""
        return [*self.errors, *await self.page.locator(TROUBLE).all_inner_texts()]


@dataclass(frozen=True)
class Spent:
    """Processor seconds so far of the server with what it started, and of the browser."""

    server: float
    browser: float

    @classmethod
    def now(cls) -> Spent:
        server = browser = 0.0
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                if "chrom" in process.name():
                    browser += times.user + times.system
                elif "node" not in process.name():
                    server += times.user + times.system
        return cls(server, browser)

    def since(self, before: Spent) -> Spent:
        return Spent(self.server - before.server, self.browser - before.browser)


def line(name: str, seconds: Sequence[float], spent: Spent) -> str:
    """A row of the table that is printed."""
    p50, p95, worst = (float(np.percentile(seconds, percent)) for percent in (50, 95, 100))
    each = f"{spent.server / len(seconds):>10.2f}{spent.browser / len(seconds):>10.2f}"
    return f"{name:<58}{len(seconds):>5}{p50:>8.2f}{p95:>8.2f}{worst:>8.2f}{each}"


async def several(browser: Browser, url: str, count: int, stack: AsyncExitStack) -> tuple[list[Visitor], list[float]]:
    """Let sessions come at the same moment."""
    visitors = [await Visitor.come(browser) for _ in range(count)]
    for visitor in visitors:
        stack.push_async_callback(visitor.context.close)
    return visitors, list(await asyncio.gather(*(visitor.open(url) for visitor in visitors)))


async def measure(url: str, home: Path, arguments: argparse.Namespace) -> int:
    """Print the rows; returns how many errors the sessions met."""
    texts = Texts(7)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        found = await arrivals(browser, url, arguments.arrivals)
        await one_by_one(browser, url, texts, arguments)
        found += await together(browser, url, home, texts, arguments)
        await browser.close()
    print(f"errors in all sessions: {len(found)}")
    for error in found[:10]:
        print("   ", re.sub(r"\s+", " ", error)[:200], file=sys.stderr)
    return len(found)


async def arrivals(browser: Browser, url: str, count: int) -> list[str]:
    """Sessions that come at the same moment to a server just started; what went wrong in them."""
    async with AsyncExitStack() as stack:
        before = Spent.now()
        visitors, opened = await several(browser, url, count, stack)
        print(line(f"{count} sessions at once on a server just started", opened, Spent.now().since(before)))
        return [error for visitor in visitors for error in await visitor.trouble()]


async def one_by_one(browser: Browser, url: str, texts: Texts, arguments: argparse.Namespace) -> None:
    """A first page in fresh browsers, the same page again, then searches in the last of them."""
    async with AsyncExitStack() as stack:
        painted, shown, again = [], [], []
        before = Spent.now()
        for _ in range(8):
            (visitor,), took = await several(browser, url, 1, stack)
            painted.append(await visitor.painted())
            shown += took
        spent = Spent.now().since(before)
        print(line("first paint, server warm", painted, spent))
        print(line("search box there, server warm", shown, spent))
        before = Spent.now()
        for _ in range(8):
            again.append(await visitor.open(url))
        print(line("search box in a browser that has been there before", again, Spent.now().since(before)))
        await visitor.search(texts.query())
        before = Spent.now()
        took = [await visitor.search(texts.query()) for _ in range(arguments.searches)]
        print(line(f"search until its hits are drawn, {arguments.chunks:,} chunks", took, Spent.now().since(before)))


async def together(browser: Browser, url: str, home: Path, texts: Texts, arguments: argparse.Namespace) -> list[str]:
    """Many sessions that search at once while documents are read; what went wrong in them."""
    async with AsyncExitStack() as stack:
        visitors, _ = await several(browser, url, arguments.sessions, stack)
        job = jobs.start((home / "library").resolve(), ["add", str(ROOT / "data" / "samples")])
        rounds, begun, before = [], time.perf_counter(), Spent.now()
        while jobs.running(home / "library") or not rounds:
            rounds += await asyncio.gather(*(visitor.search(texts.query()) for visitor in visitors))
            if time.perf_counter() - begun > arguments.seconds:
                jobs.stop(home / "library", job)
                break
        name = f"search in {arguments.sessions} sessions at once while documents are read"
        print(line(name, rounds, Spent.now().since(before)))
        return [error for visitor in visitors for error in await visitor.trouble()]


def main() -> int:
    """Make the library where it is missing, serve it, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=30)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--arrivals", type=int, default=10, help="how many sessions open the server just started")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the sessions search at most")
    parser.add_argument("--folder", type=Path, help="where the library is kept for the next run")
    parser.add_argument("--prepare", action="store_true", help="only make the library")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = (arguments.folder or Path(temporary)).resolve()
        home.mkdir(parents=True, exist_ok=True)
        prepare(home, arguments.chunks)
        if arguments.prepare:
            return 0
        os.environ["LONGDOC_CONFIG"] = str(home / "config.toml")
        print(f"{'':<58}{'n':>5}{'p50 s':>8}{'p95 s':>8}{'worst':>8}{'server':>10}{'browser':>10}")
        with served(home, environs=environment(home)) as url:
            return min(asyncio.run(measure(url, home, arguments)), 1)


if __name__ == "__main__":
    sys.exit(main())
