"""What is seen of work that goes through the whole library: a bar on the terminal, or a log record a second."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.output import printable

if TYPE_CHECKING:
    from indexer.cli import Context

_RECORD_SECONDS = 1.0

Tell = Callable[[str, int, int], None]
"""What progress is told to: what is done, how much of it, of how much."""


@contextmanager
def progress_bar(context: Context) -> Iterator[Tell]:
    """A bar, log records with ``--log-json``, or nothing without a terminal or when asked for quiet."""
    if context.log_json:
        yield _records()
        return
    from tqdm import tqdm

    tqdm.monitor_interval = 0
    silent = context.quiet or not sys.stderr.isatty()
    with tqdm(disable=silent, file=sys.stderr, dynamic_ncols=True, leave=False, mininterval=0.2) as bar:

        def tell(what: str, done: int, total: int) -> None:
            bar.set_description_str(what, refresh=False)
            bar.total, bar.n = total, done
            bar.refresh() if done == 0 else bar.update(0)

        yield tell


def _records() -> Tell:
    """One record at the beginning of each stage, then at most one a second."""
    started = time.monotonic()
    stage, stage_started, last = "", started, 0.0

    def tell(what: str, done: int, total: int) -> None:
        nonlocal stage, stage_started, last
        now = time.monotonic()
        if what != stage:
            stage, stage_started = what, now
        elif now - last < _RECORD_SECONDS:
            return
        last = now
        left = round((now - stage_started) / done * (total - done)) if done else None
        record("progress", stage=what, done=done, total=total, seconds=round(now - started, 1), seconds_left=left)

    return tell


def record(event: str, **fields: Any) -> None:
    """Write one JSON record on stderr, as every verb does with ``--log-json``."""
    click.echo(printable(json.dumps({"event": event, "time": round(time.time(), 3), **fields})), err=True)
