"""What is compared: the documents of a library, read when they are needed and kept while they are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from indexer.datatypes import Ids, Matrix, StoredChunk, StoredDocument
from indexer.duplicates.shingles import Hashes, Shingled
from indexer.duplicates.sides import Side

if TYPE_CHECKING:
    from indexer.library import Library

_HELD_CHARS = 20_000_000


class Collection(Protocol):
    """Documents with text, their chunks in order and their embeddings."""

    def documents(self) -> Sequence[StoredDocument]: ...
    def text(self, document_id: int) -> str: ...
    def chunks(self, document_id: int) -> Sequence[StoredChunk]: ...
    def chunk_ids(self, document_id: int) -> Ids: ...
    def embeddings(self, chunk_ids: Ids) -> Matrix: ...
    def document_vectors(self) -> tuple[Ids, Matrix]:
        """The ids of the documents that have one, ascending, and the mean of each one's chunks, row by row."""
        ...


class LibraryCollection:
    """A library's documents as they are compared."""

    def __init__(self, library: Library) -> None:
        self._store = library.store

    def documents(self) -> Sequence[StoredDocument]:
        return [document for document in self._store.documents() if document.status.searchable]

    def text(self, document_id: int) -> str:
        return self._store.text(document_id)

    def chunks(self, document_id: int) -> Sequence[StoredChunk]:
        return tuple(self._store.document_chunks(document_id))

    def chunk_ids(self, document_id: int) -> Ids:
        return self._store.chunk_ids([document_id])

    def embeddings(self, chunk_ids: Ids) -> Matrix:
        return self._store.chunk_embeddings(chunk_ids)

    def document_vectors(self) -> tuple[Ids, Matrix]:
        return self._store.document_vectors()


class Sides:
    """Documents made ready for comparison, the last used ones kept, up to 20 million characters of them."""

    def __init__(self, collection: Collection, boilerplate: Hashes) -> None:
        self._collection = collection
        self._boilerplate = boilerplate
        self._kept: OrderedDict[int, Side] = OrderedDict()
        self._chars = 0

    def of(self, document_id: int) -> Side:
        """One document, from memory or read."""
        if document_id in self._kept:
            self._kept.move_to_end(document_id)
            return self._kept[document_id]
        texts = [stored.chunk.text for stored in self._collection.chunks(document_id)]
        side = Side.of(Shingled.of(texts), self._boilerplate)
        self._kept[document_id] = side
        self._chars += len(side.shingled.text)
        while self._chars > _HELD_CHARS and len(self._kept) > 2:
            self._chars -= len(self._kept.popitem(last=False)[1].shingled.text)
        return side
