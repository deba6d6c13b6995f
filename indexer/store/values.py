"""How Python values lie in SQLite's columns: paths as bytes, embeddings as float16, lists as JSON."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Chunk, Document, Ids, Matrix, OffsetMap, Recipe, Span, Status, StoredDocument, Vector

IN_LIMIT = 20_000
"""How many ids go into one statement as a JSON array; more are asked for in turns."""


def now() -> str:
    """This moment, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def pack_path(path: str) -> bytes:
    """A path's own bytes: a name that is not UTF-8 is kept as it is."""
    return os.fsencode(path)


def unpack_path(path: bytes) -> str:
    """The reverse of ``pack_path``; undecodable bytes come back as surrogate escapes."""
    return os.fsdecode(path)


def pack_vector(vector: Vector) -> bytes:
    """A row as little-endian float16."""
    return vector.astype("<f2").tobytes()


def pack_rows(matrix: Matrix) -> list[bytes]:
    """Every row of a matrix as little-endian float16."""
    return [row.tobytes() for row in matrix.astype("<f2")]


def unpack_rows(blobs: Sequence[bytes], dimension: int) -> Matrix:
    """Rows of float32 from float16 blobs, shape (n, dimension)."""
    joined = np.frombuffer(b"".join(blobs), dtype="<f2")
    return joined.reshape(len(blobs), dimension).astype(np.float32)


def pack_ids(ids: Iterable[int]) -> bytes:
    """Ids as little-endian int64."""
    return np.fromiter(ids, dtype="<i8").tobytes()


def unpack_ids(blob: bytes) -> Ids:
    """The reverse of ``pack_ids``."""
    return np.frombuffer(blob, dtype="<i8").astype(np.int64)


def to_ids(rows: Iterable[Sequence[Any]]) -> Ids:
    """The first column of rows as an array of ids."""
    return np.fromiter((row[0] for row in rows), dtype=np.int64)


def json_ids(ids: Iterable[int] | Ids) -> str:
    """Ids as a JSON array, for ``json_each``: any number of them in one bound parameter."""
    listed = ids.tolist() if isinstance(ids, np.ndarray) else [int(one) for one in ids]
    return json.dumps(listed, separators=(",", ":"))


def pack_offsets(offsets: OffsetMap) -> bytes | None:
    """The runs of an offset map, compressed; None for a text that cleaning left as it was."""
    if offsets.runs in ((), ((0, 0),)):
        return None
    runs = np.asarray(offsets.runs, dtype="<i4")
    return zlib.compress(np.diff(runs, axis=0, prepend=np.zeros((1, 2), "<i4")).astype("<i4").tobytes(), 1)


def unpack_offsets(blob: bytes | None, length: int, original_length: int) -> OffsetMap:
    """The reverse of ``pack_offsets``."""
    if blob is None:
        return OffsetMap(((0, 0),), length, original_length)
    deltas: NDArray[np.int32] = np.frombuffer(zlib.decompress(blob), dtype="<i4").reshape(-1, 2)
    runs = np.cumsum(deltas, axis=0, dtype=np.int64).tolist()
    return OffsetMap(tuple((cleaned, original) for cleaned, original in runs), length, original_length)


def pack_list(values: Sequence[Any]) -> str:
    """A list as JSON."""
    return json.dumps([storable(one) if isinstance(one, str) else one for one in values], ensure_ascii=False)


def pack_recipe(recipe: Recipe) -> str:
    """A recipe as JSON with sorted keys, so that equal recipes are equal texts."""
    return json.dumps(asdict(recipe), ensure_ascii=False, sort_keys=True)


@lru_cache(maxsize=16)
def unpack_recipe(text: str) -> Recipe:
    """The reverse of ``pack_recipe``; fields a newer program added are left to it."""
    known = Recipe.__dataclass_fields__
    return Recipe(**{name: value for name, value in json.loads(text).items() if name in known})


def storable(text: str | None) -> str | None:
    """Text that SQLite takes: what is no character (an undecodable byte of a file's name) is shown escaped."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "")


def document_columns(document: Document) -> dict[str, Any]:
    """The columns of a document that come from reading it."""
    return {
        "media_type": document.media_type,
        "status": document.status.value,
        "reason": storable(document.reason),
        "title": storable(document.title) or "",
        "author": storable(document.author),
        "created": document.created,
        "modified": document.modified,
        "language": document.language,
        "page_count": document.page_count,
        "chars": document.chars,
        "coverage": document.coverage,
        "unread_pages": pack_list(document.unread_pages),
        "remarks": pack_list(document.remarks),
    }


def stored_document(
    row: sqlite3.Row, paths: Iterable[str], tags: Iterable[str], outdated: Iterable[str] = ()
) -> StoredDocument:
    """A row of documents (with what is indexed of it) as the shared type."""
    return StoredDocument(
        id=row["id"],
        sha256=row["sha256"] or "",
        paths=tuple(sorted(paths)),
        status=Status(row["status"]),
        reason=row["reason"],
        title=row["title"],
        author=row["author"],
        created=row["created"],
        modified=row["modified"],
        language=row["language"],
        media_type=row["media_type"],
        bytes=row["bytes"],
        page_count=row["page_count"],
        chars=row["chars"],
        tokens=row["tokens"],
        chunk_count=row["chunk_count"],
        coverage=row["coverage"],
        unread_pages=tuple(json.loads(row["unread_pages"])),
        remarks=tuple(json.loads(row["remarks"])),
        tags=tuple(sorted(tags)),
        added=row["added"],
        seconds=row["seconds"],
        outdated=tuple(outdated),
    )


def stored_chunk(row: sqlite3.Row, text: str) -> Chunk:
    """A row of chunks, with the text that its span cuts out of the document."""
    return Chunk(
        position=row["position"],
        span=Span(row["start"], row["end"]),
        text=text,
        tokens=row["tokens"],
        first_page=row["first_page"],
        last_page=row["last_page"],
        headings=tuple(json.loads(row["headings"])) if row["headings"] else (),
        language=row["language"],
    )
