"""Reading what is known of documents: their rows, files, sources, tags and counts, and filters over them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from indexer.datatypes import Ids, Matrix, Status, StoredDocument
from indexer.errors import DocumentNotFoundError
from indexer.store.part import Part
from indexer.store.records import Counts, DocumentFilter, Source, StoredFile, StoredRun, UnreadVersion
from indexer.store.values import json_ids, pack_path, stored_document, to_ids, unpack_path, unpack_rows

_COLUMNS = (
    "SELECT d.*, coalesce(i.tokens, 0) AS tokens, coalesce(i.chunk_count, 0) AS chunk_count FROM documents d "
    "LEFT JOIN indexed i ON i.document_id = d.id AND i.recipe_id = :recipe WHERE d.visible = 1"
)


_FILES = (
    "SELECT files.*, u.status AS unread, u.reason AS unread_reason FROM files LEFT JOIN unread_versions u USING (path)"
)


class DocumentReader(Part):
    """What the library knows of its documents; only those that are complete are ever seen here."""

    _counted: tuple[tuple[str, int, int], Counts] | None = None

    def document(self, document_id: int) -> StoredDocument:
        """One document. Raises DocumentNotFoundError when there is none with this id."""
        found = self.documents_by_id([document_id])
        if document_id not in found:
            raise DocumentNotFoundError(f"There is no document {document_id}. `longdoc list` shows the ids.")
        return found[document_id]

    def documents(
        self, statuses: Sequence[Status] | None = None, ids: Iterable[int] | Ids | None = None
    ) -> Iterator[StoredDocument]:
        """Documents by id, all or those with one of ``statuses`` and in ``ids``, read a thousand at a time."""
        wanted = self.document_ids() if ids is None else np.unique(np.asarray(list(ids), dtype=np.int64))
        for first in range(0, len(wanted), 1000):
            batch = self.documents_by_id(wanted[first : first + 1000])
            for document_id in sorted(batch):
                if statuses is None or batch[document_id].status in statuses:
                    yield batch[document_id]

    def documents_by_id(self, ids: Iterable[int] | Ids) -> dict[int, StoredDocument]:
        """Documents with these ids; ids without one are left out."""
        listed = json_ids(ids)
        with self._connections.reading() as connection:
            rows = connection.execute(
                f"{_COLUMNS} AND d.id IN (SELECT value FROM json_each(:ids))",
                {"recipe": self.recipe_id, "ids": listed},
            ).fetchall()
            paths: dict[int, list[str]] = {row["id"]: [] for row in rows}
            tags: dict[int, list[str]] = {row["id"]: [] for row in rows}
            outdated: dict[int, list[str]] = {row["id"]: [] for row in rows}
            for row in connection.execute(
                f"{_FILES} WHERE document_id IN (SELECT value FROM json_each(?)) ORDER BY path", [listed]
            ):
                if row["document_id"] in paths:
                    file = _stored_file(row)
                    paths[file.document_id].append(file.path)
                    outdated[file.document_id].extend(_outdated(file))
            for document_id, name in connection.execute(
                "SELECT document_id, name FROM tags WHERE document_id IN (SELECT value FROM json_each(?))", [listed]
            ):
                if document_id in tags:
                    tags[document_id].append(name)
        return {row["id"]: stored_document(row, paths[row["id"]], tags[row["id"]], outdated[row["id"]]) for row in rows}

    def document_ids(self) -> Ids:
        """The ids of all documents, ascending."""
        return to_ids(self._connections.rows("SELECT id FROM documents WHERE visible = 1 ORDER BY id"))

    def find_by_sha256(self, sha256: str) -> StoredDocument | None:
        """The document made of these bytes."""
        found = self._connections.value("SELECT id FROM documents WHERE visible = 1 AND sha256 = ?", [sha256])
        return None if found is None else self.document(found)

    def find_by_path(self, path: str) -> StoredDocument | None:
        """The document that lay at this path when it was last looked at."""
        found = self._connections.value("SELECT document_id FROM files WHERE path = ?", [pack_path(path)])
        return None if found is None else self.document(found)

    def file(self, path: str) -> StoredFile | None:
        """What was recorded of the file at this path."""
        row = self._connections.row(f"{_FILES} WHERE path = ?", [pack_path(path)])
        return None if row is None else _stored_file(row)

    def files(self, source_id: int | None = None) -> Iterator[StoredFile]:
        """Every recorded file, by path; of one source only when it is named."""
        sql = f"{_FILES} ORDER BY path"
        parameters: list[Any] = []
        if source_id is not None:
            sql, parameters = f"{_FILES} WHERE source_id = ? ORDER BY path", [source_id]
        return (_stored_file(row) for row in self._connections.rows(sql, parameters))

    def sources(self) -> list[Source]:
        """The folders and files that were added, by path."""
        rows = self._connections.rows("SELECT id, path, added FROM sources ORDER BY path")
        return [Source(row["id"], unpack_path(row["path"]), row["added"]) for row in rows]

    def tags(self) -> dict[str, int]:
        """Every tag in use and how many documents carry it."""
        rows = self._connections.rows("SELECT name, count(*) FROM tags GROUP BY name ORDER BY name")
        return {row[0]: row[1] for row in rows}

    def counts(self) -> Counts:
        """How much the library holds; counted once for every state of it, since every search asks."""
        with self._connections.reading():
            state = (self.identity, self.recipe_id, self.generation())
            kept = self._counted
            if kept is None or kept[0] != state:
                kept = self._counted = (state, self._count(state[1]))
        return kept[1]

    def _count(self, recipe_id: int) -> Counts:
        rows = self._connections.rows(
            "SELECT status, count(*) FROM documents WHERE visible = 1 GROUP BY status ORDER BY status"
        )
        by_status = {row[0]: row[1] for row in rows}
        chunks = self._connections.value(
            "SELECT coalesce(sum(chunk_count), 0) FROM indexed WHERE recipe_id = ?", [recipe_id]
        )
        embeddings = self._connections.value("SELECT count(*) FROM embeddings")
        return Counts(sum(by_status.values()), chunks, embeddings, self._size_on_disk(), by_status)

    def runs(self, limit: int = 200) -> list[StoredRun]:
        """The latest runs that changed the library, oldest first."""
        rows = self._connections.rows("SELECT * FROM runs ORDER BY id DESC LIMIT ?", [limit])
        return [StoredRun(*tuple(row)[1:]) for row in reversed(rows)]

    def document_vectors(self) -> tuple[Ids, Matrix]:
        """The ids of all documents that have an embedding of their own, and those embeddings, row by row."""
        rows = self._connections.rows(
            "SELECT document_id, vector FROM indexed WHERE recipe_id = ? AND vector IS NOT NULL ORDER BY document_id",
            [self.recipe_id],
        )
        return to_ids(rows), unpack_rows([row[1] for row in rows], self.recipe.dimension)

    def matching_documents(self, wanted: DocumentFilter) -> Ids:
        """The ids of the documents a filter lets through, ascending."""
        clauses: list[str] = ["visible = 1"]
        parameters: list[Any] = []
        for clause, values in _conditions(wanted):
            clauses.append(clause)
            parameters.extend(values)
        sql = f"SELECT id FROM documents WHERE {' AND '.join(clauses)} ORDER BY id"
        return to_ids(self._connections.rows(sql, parameters))

    def _size_on_disk(self) -> int:
        names = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(name.stat().st_size for name in names if name.exists())


def _stored_file(row: Any) -> StoredFile:
    unread = None if row["unread"] is None else UnreadVersion(Status(row["unread"]), row["unread_reason"])
    return StoredFile(
        unpack_path(row["path"]), row["document_id"], row["source_id"], row["size"], row["mtime_ns"], unread
    )


def _outdated(file: StoredFile) -> Iterator[str]:
    if file.unread is not None:
        why = file.unread.reason or file.unread.status.value
        yield f"{file.path} has changed since, and could not be read: {why}"


def _conditions(wanted: DocumentFilter) -> Iterator[tuple[str, list[Any]]]:
    """Each field of a filter that names values, as one clause over documents and what is bound to it."""
    if wanted.ids:
        yield "id IN (SELECT value FROM json_each(?))", [json_ids(wanted.ids)]
    if wanted.tags:
        yield f"id IN (SELECT document_id FROM tags WHERE name IN ({_marks(wanted.tags)}))", list(wanted.tags)
    if wanted.statuses:
        yield f"status IN ({_marks(wanted.statuses)})", list(wanted.statuses)
    for values, clause in (
        (wanted.sources, _under_clause),
        (wanted.paths, _under_clause),
        (wanted.path_parts, _path_part_clause),
        (wanted.types, _type_clause),
        (wanted.languages, _language_clause),
        (wanted.titles, _title_clause),
    ):
        if values:
            yield _any_of([clause(value) for value in values])
    if wanted.date_from:
        yield f"{_DATE} >= ?", [wanted.date_from]
    if wanted.date_to:
        # "2024" as an upper bound means to the end of 2024: any digits that follow sort before this.
        yield f"{_DATE} <> '' AND {_DATE} < ?", [wanted.date_to + "~"]


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


_DATE = "coalesce(modified, created, '')"
_PATH = "CAST(path AS TEXT)"


def _any_of(parts: Sequence[tuple[str, list[Any]]]) -> tuple[str, list[Any]]:
    return "(" + " OR ".join(clause for clause, _ in parts) + ")", [value for _, values in parts for value in values]


def _type_clause(value: str) -> tuple[str, list[Any]]:
    if "/" in value:
        return "media_type LIKE ? ESCAPE '!'", [_like(value) + "%"]
    ending = pack_path("." + value.lower().lstrip("."))
    clause = "id IN (SELECT document_id FROM files WHERE lower(substr(CAST(path AS TEXT), -?)) = CAST(? AS TEXT))"
    return clause, [len(ending), ending]


def _language_clause(value: str) -> tuple[str, list[Any]]:
    return "(language = ? OR language LIKE ? ESCAPE '!')", [value, _like(value) + "-%"]


def _path_part_clause(value: str) -> tuple[str, list[Any]]:
    clause = "id IN (SELECT document_id FROM files WHERE CAST(path AS TEXT) LIKE ? ESCAPE '!')"
    return clause, [f"%{_like(value)}%"]


def _title_clause(value: str) -> tuple[str, list[Any]]:
    """By the title that people see: that of a document without one is its file's name."""
    name = f"substr({_PATH}, length(rtrim({_PATH}, replace({_PATH}, '/', ''))) + 1)"
    by_name = f"id IN (SELECT document_id FROM files WHERE {name} LIKE ? ESCAPE '!')"
    wanted = f"%{_like(value)}%"
    return f"(title LIKE ? ESCAPE '!' OR (coalesce(title, '') = '' AND {by_name}))", [wanted, wanted]


def _under_clause(prefix: str) -> tuple[str, list[Any]]:
    exact = pack_path(prefix.rstrip(os.sep) or os.sep)
    below = exact.rstrip(b"/") + b"/"
    clause = "id IN (SELECT document_id FROM files WHERE path = ? OR (path >= ? AND path < ?))"
    return clause, [exact, below, below[:-1] + b"0"]


def _like(value: str) -> str:
    return value.replace("!", "!!").replace("%", "!%").replace("_", "!_")
