"""What changes a library: new documents, removals, files, sources, tags, runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from indexer.datatypes import Document, RunReport, Vector
from indexer.faults import fault_point
from indexer.store.changes import (
    bump_generation,
    hand_over,
    insert_document,
    link_files,
    remove_document,
    remove_if_nowhere,
    show_or_join,
)
from indexer.store.part import Part
from indexer.store.records import FoundFile, UnreadVersion
from indexer.store.values import (
    document_columns,
    now,
    pack_path,
    pack_rows,
    storable,
)
from indexer.store.writers import DocumentWriter, in_turns, known_hashes


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

    def keep_version(self, file: FoundFile, document_id: int, unread: UnreadVersion) -> None:
        """Record that what lies at a path now could not be read: the document that was read before stays there."""
        with self._connections.writing() as connection:
            link_files(connection, document_id, [file])
            connection.execute(
                "INSERT INTO unread_versions (path, status, reason) VALUES (?, ?, ?)",
                [pack_path(file.path), unread.status.value, storable(unread.reason)],
            )
            bump_generation(connection)
            fault_point("store.version")

    def looked_into(self, file: FoundFile) -> None:
        """Record a file's size and time of change, by which the next run knows that it need not look again."""
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?",
                [file.size, file.mtime_ns, pack_path(file.path)],
            )

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
