"""The sample documents as a library, for tests that ask the real encoder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.ingest import AddOptions, add
from indexer.library import Library
from indexer.parse import ReadOptions
from indexer.search.means import refresh_means
from indexer.settings import Settings

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"


@contextmanager
def sample_library(settings: Settings) -> Iterator[Library]:
    """A new library at ``settings.library`` with every sample document in it."""
    with Library.open(settings.library, settings, create=True, write=True) as library:
        add(library, [str(SAMPLES)], AddOptions(ReadOptions.from_settings(settings)))
        with library.write_lock():
            refresh_means(library)
        yield library
