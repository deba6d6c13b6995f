"""Reading what documents are made of: text, pages, headings, chunks and their embeddings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from indexer.datatypes import Heading, Ids, Matrix, Span, StoredChunk, Vector
from indexer.errors import DamagedError, DocumentNotFoundError
from indexer.store.part import Part
from indexer.store.records import LanguageMean, StoredPage
from indexer.store.values import (
    IN_LIMIT,
    json_ids,
    stored_chunk,
    to_ids,
    unpack_ids,
    unpack_offsets,
    unpack_rows,
)

BLOCK_CHARS = 8192
"""A document's text is kept in blocks of this many characters, so that a chunk's text needs one or two of them."""


class ChunkReader(Part):
    """Texts and chunks of complete documents, in the recipe in use unless another is named."""

    def chunks(self, ids: Sequence[int] | Ids) -> list[StoredChunk]:
        """Chunks in the order asked for; ids that are gone meanwhile are left out."""
        with self._connections.reading() as connection:
            rows = connection.execute(
                "SELECT c.* FROM json_each(?) j JOIN chunks c ON c.id = j.value "
                "JOIN documents d ON d.id = c.document_id AND d.visible = 1 ORDER BY j.key",
                [json_ids(ids)],
            ).fetchall()
            return [_with_text(connection, row) for row in rows]

    def document_chunks(self, document_id: int, first: int = 0, count: int | None = None) -> Iterator[StoredChunk]:
        """A document's chunks in order from position ``first`` on, read some at a time."""
        recipe_id, end = self.recipe_id, first + count if count is not None else None
        while end is None or first < end:
            size = 256 if end is None else min(256, end - first)
            with self._connections.reading() as connection:
                rows = connection.execute(
                    "SELECT * FROM chunks WHERE document_id = ? AND recipe_id = ? AND position >= ? "
                    "ORDER BY position LIMIT ?",
                    [document_id, recipe_id, first, size],
                ).fetchall()
                batch = [_with_text(connection, row) for row in rows]
            yield from batch
            if len(batch) < size:
                return
            first = batch[-1].chunk.position + 1

    def text(self, document_id: int, span: Span | None = None) -> str:
        """A document's text, or the part of it that a span cuts out."""
        with self._connections.reading() as connection:
            if span is None:
                chars = connection.execute(
                    "SELECT chars FROM documents WHERE id = ? AND visible = 1", [document_id]
                ).fetchone()
                if chars is None:
                    raise DocumentNotFoundError(f"There is no document {document_id}. `longdoc list` shows the ids.")
                span = Span(0, 2**53)
            return read_text(connection, document_id, span)

    def pages(self, document_id: int) -> list[StoredPage]:
        """A document's pages in order."""
        rows = self._connections.rows("SELECT * FROM pages WHERE document_id = ? ORDER BY position", [document_id])
        return [
            StoredPage(
                position=row["position"],
                number=row["number"],
                label=row["label"],
                span=Span(row["start"], row["end"]),
                offsets=unpack_offsets(row["runs"], row["end"] - row["start"], row["original_length"]),
                language=row["language"],
                unread=row["unread"],
            )
            for row in rows
        ]

    def headings(self, document_id: int) -> list[Heading]:
        """A document's headings in order; ``start`` counts in its text."""
        rows = self._connections.rows(
            "SELECT level, title, start FROM headings WHERE document_id = ? ORDER BY position", [document_id]
        )
        return [Heading(*row) for row in rows]

    def chunk_ids(self, document_ids: Iterable[int] | Ids | None = None, recipe_id: int | None = None) -> Ids:
        """The ids of the chunks of these documents (of all when None), ascending."""
        recipe_id = recipe_id or self.recipe_id
        if document_ids is None:
            return self.visible_chunks(recipe_id)
        # The first and the last by position are looked up: with half of a million chunks, the least and the greatest id
        # of each document's took six times as long.
        rows = self._connections.rows(
            "SELECT a.id, b.id, i.chunk_count, i.document_id FROM indexed i "
            "LEFT JOIN chunks a ON a.document_id = i.document_id AND a.recipe_id = i.recipe_id AND a.position = 0 "
            "LEFT JOIN chunks b ON b.document_id = i.document_id AND b.recipe_id = i.recipe_id "
            "AND b.position = i.chunk_count - 1 "
            "WHERE i.recipe_id = ? AND i.document_id IN (SELECT value FROM json_each(?))",
            [recipe_id, json_ids(document_ids)],
        )
        return self.spread_out(recipe_id, rows)

    def chunk_embeddings(self, chunk_ids: Sequence[int] | Ids) -> Matrix:
        """The embeddings of chunks, float32 from float16, a row for each id in the order asked for.

        Raises DamagedError when one of them is not there.
        """
        return self.embeddings_and_languages(chunk_ids)[0]

    def embeddings_and_languages(self, chunk_ids: Sequence[int] | Ids) -> tuple[Matrix, list[str]]:
        """The embeddings of chunks as ``chunk_embeddings`` gives them, and the language of each."""
        rows: dict[int, tuple[bytes, str]] = {}
        listed = np.asarray(chunk_ids, dtype=np.int64)
        for first in range(0, len(listed), IN_LIMIT):
            for row in self._connections.rows(
                "SELECT c.id, e.vector, c.language FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value "
                "JOIN embeddings e ON e.id = c.embedding_id",
                [json_ids(listed[first : first + IN_LIMIT])],
            ):
                rows[row[0]] = (row[1], row[2])
        try:
            found = [rows[one] for one in listed.tolist()]
        except KeyError as error:
            raise DamagedError(f"Chunk {error.args[0]} has no embedding; run `longdoc verify --repair`.") from error
        return unpack_rows([row[0] for row in found], self.recipe.dimension), [row[1] for row in found]

    def sample_embeddings(self, count: int, seed: int = 0) -> tuple[Ids, Matrix]:
        """The ids and embeddings of ``count`` visible chunks drawn at random, the same ones for the same library."""
        ids = self.chunk_ids()
        if len(ids) > count:
            ids = np.sort(np.random.default_rng(seed).choice(ids, count, replace=False))
        return ids, self.chunk_embeddings(ids)

    def iter_embeddings(
        self, after_chunk_id: int = 0, batch: int = 4096, recipe_id: int | None = None
    ) -> Iterator[tuple[Ids, Matrix]]:
        """All visible chunks' ids, ascending from ``after_chunk_id`` on, with their embeddings."""
        recipe_id = recipe_id or self.recipe_id
        while True:
            rows = self._connections.rows(
                "SELECT c.id, e.vector FROM chunks c JOIN embeddings e ON e.id = c.embedding_id "
                "WHERE c.id > ?1 AND c.recipe_id = ?2 AND EXISTS (SELECT 1 FROM indexed i "
                "WHERE i.recipe_id = ?2 AND i.document_id = c.document_id) ORDER BY c.id LIMIT ?3",
                [after_chunk_id, recipe_id, batch],
            )
            if not rows:
                return
            yield to_ids(rows), unpack_rows([row[1] for row in rows], self.recipe_of(recipe_id).dimension)
            after_chunk_id = rows[-1][0]

    def chunks_since(self, generation: int, recipe_id: int | None = None) -> Ids:
        """The ids of the chunks that became visible after ``generation``, ascending."""
        return self.chunks_of_indexed(recipe_id or self.recipe_id, "i.generation > ?", [generation])

    def removed_since(self, generation: int, recipe_id: int | None = None) -> Ids:
        """The ids of the chunks that were removed after ``generation``, ascending."""
        recipe_id = recipe_id or self.recipe_id
        rows = self._connections.rows(
            "SELECT chunk_ids FROM removals WHERE recipe_id = ? AND generation > ?", [recipe_id, generation]
        )
        return np.unique(np.concatenate([np.empty(0, np.int64), *(unpack_ids(row[0]) for row in rows)]))

    def removals_known_since(self) -> int:
        """The generation from which on every removal is still in the log; an older index is made anew."""
        return int(self._connections.value("SELECT value FROM meta WHERE key = 'removals_since'") or 0)

    def chunk_owner(self, chunk_ids: Sequence[int] | Ids) -> Ids:
        """The document id of each chunk, in the order asked for; 0 for a chunk that is gone."""
        owners = dict(self._chunk_column("c.document_id", chunk_ids))
        return np.fromiter((owners.get(int(one), 0) for one in chunk_ids), dtype=np.int64, count=len(chunk_ids))

    def chunk_languages(self, chunk_ids: Sequence[int] | Ids) -> list[str]:
        """The language of each chunk, in the order asked for; ``und`` for a chunk that is gone."""
        languages = dict(self._chunk_column("c.language", chunk_ids))
        return [str(languages.get(int(one), "und")) for one in chunk_ids]

    def document_vector(self, document_id: int) -> Vector | None:
        """A document's own embedding, or None when it has none."""
        blob = self._connections.value(
            "SELECT vector FROM indexed WHERE recipe_id = ? AND document_id = ?", [self.recipe_id, document_id]
        )
        return None if blob is None else unpack_rows([blob], self.recipe.dimension)[0]

    def language_means(self, recipe_id: int | None = None) -> dict[str, LanguageMean]:
        """The mean embedding of each language's visible chunks, kept up to date with every document."""
        rows = self._connections.rows(
            "SELECT language, chunk_count, total FROM languages WHERE recipe_id = ? AND chunk_count > 0 "
            "ORDER BY language",
            [recipe_id or self.recipe_id],
        )
        return {
            row[0]: LanguageMean(row[0], row[1], (np.frombuffer(row[2], "<f8") / row[1]).astype(np.float32))
            for row in rows
        }

    def _chunk_column(self, column: str, chunk_ids: Sequence[int] | Ids) -> Iterator[tuple[int, Any]]:
        listed = np.asarray(chunk_ids, dtype=np.int64)
        for first in range(0, len(listed), IN_LIMIT):
            for row in self._connections.rows(
                f"SELECT c.id, {column} FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value",
                [json_ids(listed[first : first + IN_LIMIT])],
            ):
                yield row[0], row[1]


def read_text(connection: sqlite3.Connection, document_id: int, span: Span) -> str:
    """The characters of a document inside a span, from the blocks that hold them."""
    first = span.start // BLOCK_CHARS * BLOCK_CHARS
    rows = connection.execute(
        "SELECT text FROM texts WHERE document_id = ? AND start >= ? AND start < ? ORDER BY start",
        [document_id, first, span.end],
    )
    return "".join(row[0] for row in rows)[span.start - first : span.end - first]


def _with_text(connection: sqlite3.Connection, row: sqlite3.Row) -> StoredChunk:
    text = read_text(connection, row["document_id"], Span(row["start"], row["end"]))
    return StoredChunk(row["id"], row["document_id"], stored_chunk(row, text))
