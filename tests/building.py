"""Small libraries for tests: texts cut into equal chunks, encoded by the fake encoder, written as `add` does."""

from __future__ import annotations

import hashlib
from pathlib import Path

from indexer.datatypes import Chunk, Document, Heading, OffsetMap, Recipe, Span, Status, text_hash
from indexer.library import Library
from indexer.settings import Settings
from indexer.store import FoundFile, Store, StoredPage
from tests.fakes import FakeEncoder

ENCODER = FakeEncoder()


def recipe(**changes) -> Recipe:
    values = {
        "encoder": ENCODER.name,
        "fingerprint": ENCODER.fingerprint,
        "dimension": ENCODER.dimension,
        "query_prompt": "",
        "document_prompt": "",
        "encoder_pooling": "mean",
    }
    return Recipe(**(values | changes))


def settings(tmp_path: Path) -> Settings:
    return Settings(library=tmp_path / "library", cache=tmp_path / "cache")


def make_library(tmp_path: Path) -> Library:
    return Library.open(tmp_path / "library", settings(tmp_path), create=True, write=True, encoder=FakeEncoder())


def chunks_of(text: str, size: int = 40, language: str = "en") -> list[Chunk]:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [
        Chunk(number, Span(number * size, number * size + len(piece)), piece, 5, 1, 1, ("Part",), language)
        for number, piece in enumerate(pieces)
    ]


def write_chunks(store: Store, writer, chunks, recipe_id=None) -> None:
    rows = ENCODER.encode_documents([chunk.text for chunk in chunks])
    keys = [text_hash(chunk.text) for chunk in chunks]
    known = store.known(keys, recipe_id)
    store.put_embeddings({key: row for key, row in zip(keys, rows, strict=True) if key not in known}, recipe_id)
    writer.write(chunks)


def add_text(store: Store, text: str, path: str = "/files/one.txt", *, language="en", size=40, replaces=None, **fields):
    """Write one document; ``fields`` go into its Document. Returns its id."""
    writer = store.begin(hashlib.sha256(text.encode()).hexdigest(), len(text.encode()), "text/plain")
    chunks = chunks_of(text, size, language)
    for first in range(0, len(chunks), 7):
        write_chunks(store, writer, chunks[first : first + 7])
    page = StoredPage(0, 1, None, Span(0, len(text)), OffsetMap.identity(len(text)))
    writer.pages([page], [Heading(1, "Part", 0)])
    values = {"media_type": "text/plain", "status": Status.INDEXED, "title": path, "language": language} | fields
    return writer.finish(
        Document(**values),
        ENCODER.encode_documents([text])[0],
        seconds=0.5,
        files=[FoundFile(path, len(text), 1)],
        replaces=replaces,
    )
