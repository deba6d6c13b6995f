"""How a verb opens the library that the global options name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.library import Library


def open_library(context: Context, *, write: bool = False, create: bool = False) -> Library:
    """The library at hand, for a ``with``. Raises LibraryNotFoundError when there is none and ``create`` is off."""
    from indexer.library import Library

    return Library.open(context.library_path, context.settings, create=create, write=write)
