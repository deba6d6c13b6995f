"""Which texts the probe works on: a folder, the library, or the sample documents."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.errors import LibraryNotFoundError, LongdocError
from indexer.library import Library
from indexer.probe import folder_texts, library_texts, read_backgrounds
from indexer.settings import Settings

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
background_option = click.option(
    "--background",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder whose texts are used (else the library, else the sample documents).",
)


def backgrounds_of(settings: Settings, folder: Path | None) -> dict[str, str]:
    """The haystack's text by language: from a folder, else from the library, else from the sample documents."""
    if folder is None:
        try:
            with Library.open(settings.library, settings) as library:
                if texts := read_backgrounds(library_texts(library)):
                    return texts
        except LibraryNotFoundError:
            pass  # nothing was added yet: the sample documents will do
        folder = SAMPLES
    if not folder.is_dir():
        raise LongdocError("There is no text to hide facts in: add some documents first, or give --background FOLDER.")
    return read_backgrounds(folder_texts(folder, settings))
