"""The changes themselves, each inside the caller's transaction: documents shown, joined, replaced and removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from indexer.store.fulltext import remove_words
from indexer.store.records import FoundFile
from indexer.store.values import (
    now,
    pack_ids,
    pack_path,
)


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
