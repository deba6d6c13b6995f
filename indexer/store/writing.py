"""Changing the library: documents written in pieces and shown in one transaction, removals, files, sources, tags."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from indexer.datatypes import Chunk, Document, Heading, RunReport, Vector, text_hash
from indexer.faults import fault_point
from indexer.store.chunks import BLOCK_CHARS
from indexer.store.connection import Connections
from indexer.store.fulltext import add_words, remove_words
from indexer.store.part import Part
from indexer.store.records import FoundFile, StoredPage
from indexer.store.values import (
    document_columns,
    now,
    pack_ids,
    pack_list,
    pack_offsets,
    pack_path,
    pack_rows,
    pack_vector,
)


class ChunkWriter(Part):
    """Writes the chunks of one document for one recipe; nothing of them can be seen before they are finished."""

    def __init__(self, part: Part, document_id: int, recipe_id: int) -> None:
        super().__init__(part._connections)
        self.document_id = document_id
        self._recipe_id = recipe_id
        self._encoder_id = self.encoder_id(recipe_id)
        self._chunk_count = 0
        self._tokens = 0

    def write(self, chunks: Sequence[Chunk]) -> None:
        """Keep the next chunks, in order; their embeddings are in the library already.

        Raises ValueError when one of them is not.
        """
        hashes = [text_hash(chunk.text) for chunk in chunks]
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


class Writing(Part):
    """What changes a library; the caller holds the library's writer lock."""

    def known(self, hashes: Iterable[bytes], recipe_id: int | None = None) -> set[bytes]:
        """Those of the text hashes whose embeddings the library has already: they need not be encoded."""
        return known_hashes(self._connections, self.encoder_id(recipe_id), hashes)

    def embeddings_by_hash(self, hashes: Iterable[bytes], recipe_id: int | None = None) -> dict[bytes, Vector]:
        """The embeddings of texts by their hashes; hashes that are not known are left out."""
        encoder_id, wanted = self.encoder_id(recipe_id), list(dict.fromkeys(hashes))
        found: dict[bytes, Vector] = {}
        for some, marks in in_turns(wanted):
            for key, blob in self._connections.rows(
                f"SELECT text_hash, vector FROM embeddings WHERE encoder_id = ? AND text_hash IN ({marks})",
                [encoder_id, *some],
            ):
                found[key] = np.frombuffer(blob, "<f2").astype(np.float32)
        return found

    def put_embeddings(self, embeddings: Mapping[bytes, Vector], recipe_id: int | None = None) -> None:
        """Keep embeddings by the hashes of their texts, in one short transaction, for documents to come.

        They belong to no document: what a killed run had encoded is there for the next one.
        """
        if not embeddings:
            return
        encoder_id = self.encoder_id(recipe_id)
        rows = pack_rows(np.stack([np.asarray(row, dtype=np.float32) for row in embeddings.values()]))
        with self._connections.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO embeddings (encoder_id, text_hash, vector) VALUES (?, ?, ?)",
                [(encoder_id, key, row) for key, row in zip(embeddings, rows, strict=True)],
            )
            fault_point("store.embeddings")

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make the changes inside the block one transaction: one flush to the disk, for as little time as they take."""
        with self._connections.writing():
            yield

    def begin(self, sha256: str | None, size: int, media_type: str) -> DocumentWriter:
        """Begin a document that nobody sees until its writer finishes it."""
        with self._connections.writing() as connection:
            document_id = insert_document(connection, sha256, size, {"media_type": media_type})
            fault_point("store.begin")
        return DocumentWriter(self, document_id, self.recipe_id, sha256)

    def record_failure(
        self, document: Document, file: FoundFile, sha256: str | None = None, *, replaces: int | None = None
    ) -> int:
        """Keep a document without chunks, so that its status can be listed. Returns its id."""
        with self._connections.writing() as connection:
            document_id = insert_document(connection, sha256, file.size, document_columns(document))
            visible = show_or_join(connection, document_id, sha256, replaces)
            if visible != document_id:
                connection.execute("DELETE FROM documents WHERE id = ?", [document_id])
            link_files(connection, visible, [file])
            hand_over(connection, replaces, visible)
            bump_generation(connection)
            fault_point("store.failure")
        return visible

    def remove_document(self, document_id: int) -> bool:
        """Remove a document with its chunks and paths; False when there is none. Embeddings stay until ``prune``."""
        with self._connections.writing() as connection:
            removed = remove_document(connection, document_id)
            fault_point("store.remove")
        fault_point("store.removed")
        return removed

    def link(self, file: FoundFile, document_id: int) -> None:
        """Record that a document lies at a path. A document that lay there alone is removed."""
        with self._connections.writing() as connection:
            old = connection.execute("SELECT document_id FROM files WHERE path = ?", [pack_path(file.path)]).fetchone()
            link_files(connection, document_id, [file])
            if old is not None and old[0] != document_id:
                hand_over(connection, old[0], document_id)
            bump_generation(connection)
            fault_point("store.link")

    def unlink(self, path: str) -> int | None:
        """Forget a path; when it was its document's last the document goes too and its id is returned."""
        with self._connections.writing() as connection:
            row = connection.execute("SELECT document_id FROM files WHERE path = ?", [pack_path(path)]).fetchone()
            if row is None:
                return None
            connection.execute("DELETE FROM files WHERE path = ?", [pack_path(path)])
            bump_generation(connection)
            gone = remove_if_nowhere(connection, row[0])
            fault_point("store.unlink")
        return int(row[0]) if gone else None

    def add_source(self, path: str) -> int:
        """Record a folder or file that was added; returns its id, the same for the same path."""
        with self._connections.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO sources (path, added) VALUES (?, ?)", [pack_path(path), now()])
            found = connection.execute("SELECT id FROM sources WHERE path = ?", [pack_path(path)]).fetchone()
        return int(found[0])

    def remove_source(self, source_id: int) -> None:
        """Forget a source; its documents stay."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM sources WHERE id = ?", [source_id])

    def tag(self, document_ids: Iterable[int], names: Iterable[str]) -> None:
        """Give documents tags; one that a document has already changes nothing."""
        pairs = [(document_id, name) for document_id in document_ids for name in names]
        with self._connections.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO tags SELECT id, ?2 FROM documents WHERE id = ?1 AND visible = 1", pairs
            )
            bump_generation(connection)

    def untag(self, document_ids: Iterable[int], names: Iterable[str]) -> None:
        """Take tags from documents."""
        pairs = [(document_id, name) for document_id in document_ids for name in names]
        with self._connections.writing() as connection:
            connection.executemany("DELETE FROM tags WHERE document_id = ? AND name = ?", pairs)
            bump_generation(connection)

    def record_run(self, started: str, report: RunReport) -> None:
        """Add a run to the library's history."""
        with self._connections.writing() as connection:
            connection.execute(
                "INSERT INTO runs (started, seconds, added, updated, unchanged, failed, removed, tokens, "
                "encoded_tokens, peak_rss_mb) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    started,
                    report.seconds,
                    report.added,
                    report.updated,
                    report.unchanged,
                    report.failed,
                    report.removed,
                    report.tokens,
                    report.encoded_tokens,
                    report.peak_rss_mb,
                ],
            )

    def discard_unfinished(self) -> int:
        """Drop what a killed writer left half written; the caller must hold the writer lock. Returns how many."""
        with self._connections.writing() as connection:
            return connection.execute("DELETE FROM documents WHERE visible = 0").rowcount


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


def bump_generation(connection: sqlite3.Connection) -> int:
    """Count one more visible change, inside the transaction that makes it."""
    row = connection.execute(
        "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation' RETURNING value"
    ).fetchone()
    return int(row[0])


def insert_document(connection: sqlite3.Connection, sha256: str | None, size: int, columns: Mapping[str, Any]) -> int:
    """Insert an invisible document and return its id."""
    cursor = connection.execute("INSERT INTO documents (sha256, bytes, added) VALUES (?, ?, ?)", [sha256, size, now()])
    document_id = int(cursor.lastrowid or 0)
    update_document(connection, document_id, columns)
    return document_id


def update_document(connection: sqlite3.Connection, document_id: int, columns: Mapping[str, Any]) -> None:
    """Set columns of a document; their names come from the program, never from outside."""
    assignments = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(f"UPDATE documents SET {assignments} WHERE id = ?", [*columns.values(), document_id])


def show_or_join(
    connection: sqlite3.Connection, document_id: int, sha256: str | None, replaces: int | None = None
) -> int:
    """Make a document visible, or return the one with the same bytes and chunks that is visible already.

    One with the same bytes gives way when it is to be replaced or had failed, and passes on its paths and tags.
    """
    twin = connection.execute(
        "SELECT d.id, EXISTS (SELECT 1 FROM indexed i WHERE i.document_id = d.id) AS has_chunks "
        "FROM documents d WHERE visible = 1 AND sha256 = ? AND id <> ?",
        [sha256, document_id],
    ).fetchone()
    if twin is not None and twin["has_chunks"] and twin["id"] != replaces:
        return int(twin["id"])
    if twin is not None:
        connection.execute("UPDATE files SET document_id = ? WHERE document_id = ?", [document_id, twin["id"]])
        hand_over(connection, twin["id"], document_id)
    connection.execute("UPDATE documents SET visible = 1 WHERE id = ?", [document_id])
    return document_id


def link_files(connection: sqlite3.Connection, document_id: int, files: Iterable[FoundFile]) -> None:
    """Record the paths of a document; each path belongs to one document."""
    connection.executemany(
        "INSERT OR REPLACE INTO files (path, document_id, source_id, size, mtime_ns) VALUES (?, ?, ?, ?, ?)",
        [(pack_path(file.path), document_id, file.source_id, file.size, file.mtime_ns) for file in files],
    )


def hand_over(connection: sqlite3.Connection, old_id: int | None, new_id: int) -> None:
    """Give a replaced document's tags to the new one, and remove it when it lies nowhere any more."""
    if old_id is None or old_id == new_id:
        return
    connection.execute("INSERT OR IGNORE INTO tags SELECT ?, name FROM tags WHERE document_id = ?", [new_id, old_id])
    remove_if_nowhere(connection, old_id)


def remove_if_nowhere(connection: sqlite3.Connection, document_id: int) -> bool:
    """Remove a document that has no path left."""
    if connection.execute("SELECT 1 FROM files WHERE document_id = ? LIMIT 1", [document_id]).fetchone():
        return False
    return remove_document(connection, document_id)


def remove_document(connection: sqlite3.Connection, document_id: int) -> bool:
    """Remove a document with its words, its share in the language means, and a record for the vector index."""
    recipes = connection.execute("SELECT recipe_id FROM indexed WHERE document_id = ?", [document_id]).fetchall()
    generation = bump_generation(connection)
    for (recipe_id,) in recipes:
        hide_chunks(connection, recipe_id, document_id, generation)
    return connection.execute("DELETE FROM documents WHERE id = ?", [document_id]).rowcount > 0


def hide_chunks(connection: sqlite3.Connection, recipe_id: int, document_id: int, generation: int) -> None:
    """Take a document's chunks out of everything derived from them, and log their ids for the vector index."""
    remove_words(connection, recipe_id, document_id)
    count_languages(connection, recipe_id, document_id, sign=-1)
    ids = connection.execute(
        "SELECT id FROM chunks WHERE document_id = ? AND recipe_id = ?", [document_id, recipe_id]
    ).fetchall()
    if ids:
        connection.execute(
            "INSERT INTO removals (recipe_id, generation, chunk_ids) VALUES (?, ?, ?)",
            [recipe_id, generation, pack_ids(row[0] for row in ids)],
        )


def count_languages(connection: sqlite3.Connection, recipe_id: int, document_id: int, *, sign: int) -> None:
    """Add a document's embeddings to the sums behind the language means, or take them away again."""
    sums: dict[str, tuple[int, np.ndarray[Any, np.dtype[np.float64]]]] = {}
    for language, blob in connection.execute(
        "SELECT c.language, e.vector FROM chunks c JOIN embeddings e ON e.id = c.embedding_id "
        "WHERE c.document_id = ? AND c.recipe_id = ?",
        [document_id, recipe_id],
    ):
        row = np.frombuffer(blob, "<f2").astype(np.float64)
        count, total = sums.get(language, (0, np.zeros_like(row)))
        sums[language] = (count + 1, total + row)
    for language, (count, total) in sums.items():
        kept = connection.execute(
            "SELECT chunk_count, total FROM languages WHERE recipe_id = ? AND language = ?", [recipe_id, language]
        ).fetchone()
        before, so_far = (0, np.zeros_like(total)) if kept is None else (kept[0], np.frombuffer(kept[1], "<f8"))
        connection.execute(
            "INSERT OR REPLACE INTO languages VALUES (?, ?, ?, ?)",
            [recipe_id, language, before + sign * count, (so_far + sign * total).astype("<f8").tobytes()],
        )
