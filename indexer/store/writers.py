"""Documents written in pieces: chunks first, that nobody sees, then everything shown in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from indexer.datatypes import Chunk, Document, Heading, Vector, text_hash
from indexer.faults import fault_point
from indexer.store.changes import bump_generation, count_languages, hand_over, link_files, show_or_join, update_document
from indexer.store.chunks import BLOCK_CHARS
from indexer.store.connection import Connections
from indexer.store.fulltext import add_words
from indexer.store.part import Part
from indexer.store.records import FoundFile, StoredPage
from indexer.store.values import (
    document_columns,
    pack_list,
    pack_offsets,
    pack_vector,
)


def known_hashes(connections: Connections, encoder_id: int, hashes: Iterable[bytes]) -> set[bytes]:
    """Those of the text hashes for which an encoder's embedding is kept."""
    found: set[bytes] = set()
    for some, marks in in_turns(list(dict.fromkeys(hashes))):
        rows = connections.rows(
            f"SELECT text_hash FROM embeddings WHERE encoder_id = ? AND text_hash IN ({marks})", [encoder_id, *some]
        )
        found.update(row[0] for row in rows)
    return found


def in_turns(values: Sequence[bytes], size: int = 500) -> Iterator[tuple[Sequence[bytes], str]]:
    """Some values at a time, with the marks that stand for them in a statement."""
    for first in range(0, len(values), size):
        some = values[first : first + size]
        yield some, ", ".join("?" * len(some))


class ChunkWriter(Part):
    """Writes the chunks of one document for one recipe; nothing of them can be seen before they are finished."""

    def __init__(self, part: Part, document_id: int, recipe_id: int) -> None:
        super().__init__(part._connections)
        self.document_id = document_id
        self._recipe_id = recipe_id
        self._encoder_id = self.encoder_id(recipe_id)
        self._chunk_count = 0
        self._tokens = 0

    def write(self, chunks: Sequence[Chunk], keys: Sequence[bytes] | None = None) -> None:
        """Keep the next chunks, in order; their embeddings are in the library already, by ``keys`` or by their texts.

        Raises ValueError when one of them is not.
        """
        hashes = [text_hash(chunk.text) for chunk in chunks] if keys is None else list(keys)
        if missing := set(hashes) - known_hashes(self._connections, self._encoder_id, hashes):
            raise ValueError(f"{len(missing)} of {len(chunks)} chunks have no embedding yet")
        with self._connections.writing() as connection:
            connection.executemany(
                "INSERT INTO chunks (document_id, recipe_id, position, start, end, tokens, first_page, last_page, "
                "language, headings, embedding_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                "(SELECT id FROM embeddings WHERE encoder_id = ? AND text_hash = ?))",
                [self._chunk_row(chunk, key) for chunk, key in zip(chunks, hashes, strict=True)],
            )
            self._write_text(connection, chunks)
            fault_point("store.write")
        fault_point("store.written")
        self._chunk_count += len(chunks)
        self._tokens += sum(chunk.tokens for chunk in chunks)

    def _write_text(self, connection: sqlite3.Connection, chunks: Sequence[Chunk]) -> None:
        """A recipe's further chunks are cut from text that is kept already."""

    def _chunk_row(self, chunk: Chunk, key: bytes) -> tuple[Any, ...]:
        return (
            self.document_id,
            self._recipe_id,
            chunk.position,
            chunk.span.start,
            chunk.span.end,
            chunk.tokens,
            chunk.first_page,
            chunk.last_page,
            chunk.language,
            pack_list(chunk.headings) if chunk.headings else None,
            self._encoder_id,
            key,
        )

    def _show(self, connection: sqlite3.Connection, vector: Vector | None) -> None:
        """Make the chunks searchable, inside the caller's transaction."""
        generation = bump_generation(connection)
        connection.execute(
            "INSERT INTO indexed (document_id, recipe_id, generation, chunk_count, tokens, vector) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            [
                self.document_id,
                self._recipe_id,
                generation,
                self._chunk_count,
                self._tokens,
                None if vector is None else pack_vector(vector),
            ],
        )
        add_words(connection, self._recipe_id, self.document_id)
        count_languages(connection, self._recipe_id, self.document_id, sign=1)


class RecipeWriter(ChunkWriter):
    """Writes a kept document's chunks once more, after another recipe, beside those that are searched."""

    def finish(self, vector: Vector | None) -> None:
        """Complete the document in its recipe, in one transaction."""
        with self._connections.writing() as connection:
            self._show(connection, vector)
            fault_point("store.rebuild")
        fault_point("store.rebuilt")


class DocumentWriter(ChunkWriter):
    """Writes a new document; it and all of its chunks become visible together when it is finished."""

    def __init__(self, part: Part, document_id: int, recipe_id: int, sha256: str | None) -> None:
        super().__init__(part, document_id, recipe_id)
        self._sha256 = sha256
        self._chars = 0
        self._tail = ""

    def pages(self, pages: Iterable[StoredPage], headings: Iterable[Heading]) -> None:
        """Keep the document's pages and headings, in order; may be called again for those that follow."""
        with self._connections.writing() as connection:
            connection.executemany(
                "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        self.document_id,
                        page.position,
                        page.number,
                        page.label,
                        page.span.start,
                        page.span.end,
                        page.language,
                        page.unread,
                        page.offsets.original_length,
                        pack_offsets(page.offsets),
                    )
                    for page in pages
                ),
            )
            kept = connection.execute("SELECT count(*) FROM headings WHERE document_id = ?", [self.document_id])
            first = kept.fetchone()[0]
            connection.executemany(
                "INSERT INTO headings VALUES (?, ?, ?, ?, ?)",
                (
                    (self.document_id, position, heading.level, heading.title, heading.start)
                    for position, heading in enumerate(headings, start=first)
                ),
            )
            fault_point("store.pages")

    def finish(
        self,
        document: Document,
        vector: Vector | None,
        *,
        seconds: float = 0.0,
        files: Sequence[FoundFile] = (),
        replaces: int | None = None,
    ) -> int:
        """Show the document at the paths of ``files`` and hide the one it ``replaces``, in one transaction.

        The replaced document's tags pass to the new one; it is removed unless it still lies at another path. When the
        same bytes became visible meanwhile, those stay and get the paths. Returns the id that is visible now.
        """
        with self._connections.writing() as connection:
            self._write_text(connection, ())
            if self._tail:
                self._insert_block(connection, self._tail)
            visible = show_or_join(connection, self.document_id, self._sha256, replaces)
            if visible == self.document_id:
                columns = document_columns(replace(document, chars=self._chars)) | {"seconds": seconds}
                update_document(connection, self.document_id, columns)
                self._show(connection, vector)
            else:
                connection.execute("DELETE FROM documents WHERE id = ?", [self.document_id])
            fault_point("store.finish")
            link_files(connection, visible, files)
            hand_over(connection, replaces, visible)
            fault_point("store.finishing")
        fault_point("store.finished")
        return visible

    def abandon(self) -> None:
        """Forget what was written; the embeddings stay for the next attempt."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM documents WHERE id = ? AND visible = 0", [self.document_id])

    def _write_text(self, connection: sqlite3.Connection, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            if chunk.span.start != self._chars or len(chunk.text) != len(chunk.span):
                raise ValueError(f"chunk {chunk.position} begins at {chunk.span.start}, not at {self._chars}")
            self._tail += chunk.text
            self._chars = chunk.span.end
            while len(self._tail) >= BLOCK_CHARS:
                self._insert_block(connection, self._tail[:BLOCK_CHARS])
                self._tail = self._tail[BLOCK_CHARS:]

    def _insert_block(self, connection: sqlite3.Connection, text: str) -> None:
        connection.execute(
            "INSERT INTO texts (document_id, start, text) SELECT ?1, coalesce(max(start) + ?2, 0), ?3 "
            "FROM texts WHERE document_id = ?1",
            [self.document_id, BLOCK_CHARS, text],
        )
