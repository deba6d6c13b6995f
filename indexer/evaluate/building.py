"""A collection's documents as a library of their own, kept so that a second evaluation encodes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from indexer import encode
from indexer.chunk import chunk_pages
from indexer.datatypes import Document, Encoder, OffsetMap, Page, Span, Status
from indexer.evaluate.collection import Collection, SourceDocument
from indexer.evaluate.remembering import RememberingEncoder
from indexer.library import Library
from indexer.normalize import clean
from indexer.parse.languages import detect_language
from indexer.search.means import refresh_means
from indexer.settings import Settings
from indexer.store import FoundFile, StoredPage
from indexer.windows import Window, Windowing

_LOOK_AHEAD = 1024
_SCHEME = "beir:"

Progress = Callable[[int, int], None]
"""Called with the number of documents done and the number of all."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A document cut into windows of chunks, waiting for the embeddings it lacks."""

    source: SourceDocument
    page: Page
    windows: tuple[Window, ...]


def library_directory(settings: Settings, collection: Collection, fingerprint: str) -> Path:
    """Where the library of a collection is kept: another text, encoder or chunking is another library."""
    digest = hashlib.blake2b(digest_size=8)
    window = (settings.window,) if settings.window else ()
    for value in (fingerprint, settings.chunk_tokens, settings.chunk_minimum, *window):
        digest.update(f"{value}\0".encode())
    for document in collection.documents:
        digest.update(f"{document.id}\0".encode() + document.text.encode("utf-8", "surrogatepass"))
    return settings.cache / "evaluate" / f"{collection.name}-{digest.hexdigest()}"


@contextmanager
def collection_library(
    collection: Collection,
    settings: Settings,
    *,
    encoder: Encoder | None = None,
    progress: Progress | None = None,
    directory: Path | None = None,
    known: Library | None = None,
) -> Iterator[Library]:
    """Open the library of a collection, with every document in it and every query encoded.

    It is kept in the cache, unless a ``directory`` is given. Embeddings that ``known`` has are taken from there.
    """
    if directory is None:
        fingerprint = (
            encoder.fingerprint if encoder else encode.describe_encoder(settings.encoder, settings).fingerprint
        )
        directory = library_directory(settings, collection, fingerprint)
    directory.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, library=directory)
    remembering = RememberingEncoder(settings, directory / "queries.npz", encoder)
    with Library.open(directory, settings, create=True, write=True, encoder=remembering) as library:
        with library.write_lock(wait=-1):
            _fill(library, collection.documents, known, progress)
            refresh_means(library)
        remembering.remember(list(collection.queries.values()))
        yield library


def collection_id(path: str) -> str:
    """The collection's name for a document, from the path it is kept under."""
    return path.removeprefix(_SCHEME)


def _fill(
    library: Library, documents: Sequence[SourceDocument], known: Library | None, progress: Progress | None
) -> None:
    present = {file.path for file in library.store.files()}
    missing = [document for document in documents if _SCHEME + document.id not in present]
    waiting: list[_Cut] = []
    done = len(documents) - len(missing)
    for number, document in enumerate(missing, start=1):
        waiting.append(_cut(document, library))
        if sum(len(window.chunks) for cut in waiting for window in cut.windows) >= _LOOK_AHEAD or number == len(
            missing
        ):
            _encode(library, waiting, known)
            for cut in waiting:
                _keep(library, cut)
            done += len(waiting)
            waiting = []
            if progress is not None:
                progress(done, len(documents))


def _cut(document: SourceDocument, library: Library) -> _Cut:
    cleaned = clean(document.text)
    page = Page(cleaned.text, cleaned.offsets, language=detect_language(cleaned.text))
    recipe = library.store.recipe
    chunks = chunk_pages(
        [page], library.encoder.count_tokens, chunk_tokens=recipe.chunk_tokens, minimum=recipe.chunk_minimum
    )
    return _Cut(document, page, tuple(Windowing.of(recipe, library.encoder).cut(chunks)))


def _encode(library: Library, waiting: Sequence[_Cut], known: Library | None) -> None:
    windows = {window.keys: window for cut in waiting for window in cut.windows}
    wanted = {key for keys in windows for key in keys}
    if known is not None:
        library.store.put_embeddings(known.store.embeddings_by_hash(wanted))
    present = library.store.known(wanted)
    missing = [window for window in windows.values() if not present.issuperset(window.keys)]
    keys = [key for window in missing for key in window.keys]
    windowing = Windowing.of(library.store.recipe, library.encoder)
    for batch in windowing.encode_in_batches(library.encoder, missing):
        some = {keys[position]: row for position, row in zip(batch.positions.tolist(), batch.rows, strict=True)}
        library.store.put_embeddings(some)


def _keep(library: Library, cut: _Cut) -> None:
    text = cut.source.text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(cut.source.id.encode() + b"\0" + text).hexdigest()
    file = FoundFile(_SCHEME + cut.source.id, len(text), 0)
    status = Status.INDEXED if cut.windows else Status.EMPTY
    document = Document("text/plain", status, title=cut.source.title, language=cut.page.language)
    if not cut.windows:
        library.store.record_failure(document, file, digest)
        return
    writer = library.store.begin(digest, len(text), "text/plain")
    keys = [key for window in cut.windows for key in window.keys]
    writer.write([chunk for window in cut.windows for chunk in window.chunks], keys)
    whole = Span(0, len(cut.page.text))
    writer.pages([StoredPage(0, None, None, whole, cut.page.offsets, cut.page.language)], ())
    rows = library.store.embeddings_by_hash(keys)
    mean = np.mean(list(rows.values()), axis=0)
    writer.finish(document, np.asarray(mean / np.linalg.norm(mean), dtype=np.float32), files=[file])


def original_spans(library: Library, document_id: int, spans: Sequence[Span]) -> list[Span]:
    """Spans of a kept document's text, in the text the collection gave."""
    (page,) = library.store.pages(document_id)
    offsets: OffsetMap = page.offsets
    return [offsets.to_original(span) for span in spans]
