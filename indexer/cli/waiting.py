"""A bar on the terminal for work that goes through the whole library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.cli import Context


@contextmanager
def progress_bar(context: Context) -> Iterator[Callable[[str, int, int], None]]:
    """What to tell progress to: what is done, how much of it, of how much; silent without a terminal or when asked."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0
    silent = context.quiet or not sys.stderr.isatty()
    with tqdm(disable=silent, file=sys.stderr, dynamic_ncols=True, leave=False, mininterval=0.2) as bar:

        def tell(what: str, done: int, total: int) -> None:
            bar.set_description_str(what, refresh=False)
            bar.total, bar.n = total, done
            bar.refresh() if done == 0 else bar.update(0)

        yield tell
