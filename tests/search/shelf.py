"""A small library written straight into the store, for tests of the read path."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from indexer.chunk import chunk_pages
from indexer.datatypes import Document, Encoder, Heading, OffsetMap, Page, Span, Status, text_hash
from indexer.library import Library
from indexer.search.means import refresh_means
from indexer.settings import Settings
from indexer.store import FoundFile
from indexer.store.records import StoredPage
from tests.fakes import FakeEncoder


def new_library(directory: Path, encoder: Encoder | None = None) -> Library:
    settings = Settings(library=directory, cache=directory / "cache", encoder="fake", chunk_tokens=64)
    return Library.open(directory, settings, create=True, write=True, encoder=encoder or FakeEncoder(256))


def put(library: Library, path: str, text: str, *, title: str | None = None, **about: str) -> int:
    """One document of one page; ``about`` are fields of ``Document``."""
    language = about.get("language", "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in text) else "en")
    page = Page(text, OffsetMap.identity(len(text)), number=1, headings=_headings(text), language=language)
    chunks = list(chunk_pages([page], library.encoder.count_tokens, chunk_tokens=64))
    rows = library.encoder.encode_documents([chunk.text for chunk in chunks])
    library.store.put_embeddings({text_hash(chunk.text): row for chunk, row in zip(chunks, rows, strict=True)})
    digest = hashlib.sha256((path + text).encode()).hexdigest()
    writer = library.store.begin(digest, len(text), "text/plain")
    writer.write(chunks)
    writer.pages([StoredPage(0, 1, "i", Span(0, len(text)), page.offsets, language)], page.headings)
    document = Document(
        **{
            "media_type": "text/plain",
            "status": Status.INDEXED,
            "title": Path(path).stem if title is None else title,
            "language": language,
        }
        | about  # type: ignore[arg-type]  # fields of Document by name
    )
    mean = np.asarray(rows.mean(axis=0) / np.linalg.norm(rows.mean(axis=0)), dtype=np.float32)
    return writer.finish(document, mean, files=[FoundFile(path, len(text), 0)])


def fill(library: Library, texts: Mapping[str, str]) -> dict[str, int]:
    """Several documents, and the language means that belong to them; ids by path."""
    ids = {path: put(library, path, text) for path, text in texts.items()}
    with library.write_lock():
        refresh_means(library)
    return ids


def _headings(text: str) -> tuple[Heading, ...]:
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        if line.startswith("# "):
            found.append(Heading(1, line[2:].strip(), start))
        start += len(line)
    return tuple(found)
