"""Export and import: a library as plain JSON lines and NumPy arrays that any program can read, and back again.

A folder of ``manifest.json`` (format, recipe, counts, checksums), ``documents.jsonl`` (a document a line, with files,
pages, headings and tags), ``chunks.jsonl`` (a chunk a line, with text and span), ``embeddings.npy`` (float16, a row for
each line of ``chunks.jsonl``) and ``document_embeddings.npy`` (float16, a row for each line of ``documents.jsonl``).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import (
    Chunk,
    Document,
    Heading,
    OffsetMap,
    Recipe,
    Span,
    Status,
    StoredDocument,
    text_hash,
)
from indexer.errors import LibraryError
from indexer.faults import fault_point
from indexer.library import Library
from indexer.store import DocumentWriter, FoundFile, Store, StoredPage
from indexer.windows import window_keys

FORMAT = "longdoc export 1"
_PARTS = ("documents.jsonl", "chunks.jsonl", "embeddings.npy", "document_embeddings.npy")
_BATCH = 512
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Imported:
    """How many documents came in, and how many were there already."""

    added: int
    unchanged: int


def export_library(library: Library, folder: Path) -> int:
    """Write a library to a new folder, as it is at this moment; returns the number of documents.

    The folder appears under its name when it is complete. Raises LibraryError when it is there already.
    """
    if folder.exists():
        raise LibraryError(f"{folder} is there already; choose another name for the export.")
    try:
        staging = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise LibraryError(f"Nothing can be written to {folder.absolute().parent}: {error.strerror}.") from error
    try:
        with library.store.snapshot():
            count = _write(library, staging)
        fault_point("export.written")
        staging.replace(folder)
    except OSError as error:
        raise LibraryError(f"The export to {folder} failed: {error.strerror}.") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return count


def import_library(library: Library, folder: Path) -> Imported:
    """Add an export's documents to a library of the same recipe; needs the writer lock.

    A document whose bytes the library has already is left as it is. Raises LibraryError when the export is damaged or
    was made with another encoder or other chunking; documents that came in before that stay.
    """
    manifest = read_manifest(folder)
    if Recipe(**manifest["recipe"]) != library.store.recipe:
        raise LibraryError(
            f"The export in {folder} was made with another encoder or other chunking than this library's; import it "
            "into an empty directory (--library DIR), then run `longdoc reindex` there."
        )
    _check_parts(folder, manifest)
    vectors = _array(folder / "embeddings.npy")
    documents = _array(folder / "document_embeddings.npy")
    added = unchanged = 0
    groups = groupby(enumerate(_lines(folder / "chunks.jsonl")), key=lambda line: line[1]["document"])
    waiting = next(groups, None)
    for number, fields in enumerate(_lines(folder / "documents.jsonl")):
        chunks: Iterator[tuple[int, dict[str, Any]]] = iter(())
        if waiting is not None and waiting[0] == number:
            chunks = waiting[1]
        if fields["sha256"] and library.store.find_by_sha256(fields["sha256"]) is not None:
            unchanged += 1
        else:
            _read_document(library, fields, chunks, vectors, documents[number])
            added += 1
        if waiting is not None and waiting[0] == number:
            waiting = next(groups, None)
    return Imported(added, unchanged)


def read_manifest(folder: Path) -> dict[str, Any]:
    """An export's manifest. Raises LibraryError when the folder holds no export this program can read."""
    try:
        manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise LibraryError(f"The export in {folder} has the format {manifest['format']!r}, not {FORMAT!r}.")
        Recipe(**manifest["recipe"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LibraryError(f"{folder} holds no complete export of a library ({error}).") from error
    return manifest


def _write(library: Library, folder: Path) -> int:
    store = library.store
    ids = store.document_ids()
    dimension = store.recipe.dimension
    chunk_count = store.counts().chunks
    with (
        _new_file(folder / "documents.jsonl") as documents,
        _new_file(folder / "chunks.jsonl") as chunks,
        _new_rows(folder / "embeddings.npy", chunk_count, dimension) as rows,
        _new_rows(folder / "document_embeddings.npy", len(ids), dimension) as document_rows,
    ):
        for number, document in enumerate(store.documents()):
            documents.write(_line(_document_fields(library, document)))
            row = store.document_vector(document.id)
            document_rows.write((np.zeros(dimension) if row is None else row).astype("<f2").tobytes())
            for batch in _batches(store.document_chunks(document.id)):
                rows.write(store.chunk_embeddings([one.id for one in batch]).astype("<f2").tobytes())
                for stored in batch:
                    chunks.write(_line({"document": number, "id": stored.id, **_chunk_fields(stored.chunk)}))
    manifest = {
        "format": FORMAT,
        "recipe": asdict(store.recipe),
        "documents": len(ids),
        "chunks": chunk_count,
        "sha256": {name: _digest(folder / name) for name in _PARTS},
    }
    with _new_file(folder / "manifest.json") as file:
        file.write(json.dumps(manifest, indent=2, sort_keys=True))
    return len(ids)


def _document_fields(library: Library, document: StoredDocument) -> dict[str, Any]:
    store, fields = library.store, asdict(document)
    sources = {source.id: source.path for source in store.sources()}
    fields["files"] = [
        {
            "path": file.path,
            "size": file.size,
            "mtime_ns": 0 if file.unread else file.mtime_ns,  # what could not be read is looked into again
            "source": None if file.source_id is None else sources[file.source_id],
        }
        for file in (store.file(path) for path in document.paths)
        if file is not None
    ]
    fields["pages"] = [
        {
            "number": page.number,
            "label": page.label,
            "start": page.span.start,
            "end": page.span.end,
            "language": page.language,
            "unread": page.unread,
            "original_length": page.offsets.original_length,
            "offsets": [list(run) for run in page.offsets.runs],
        }
        for page in store.pages(document.id)
    ]
    fields["headings"] = [asdict(heading) for heading in store.headings(document.id)]
    return fields


def _chunk_fields(chunk: Chunk) -> dict[str, Any]:
    fields = asdict(chunk)
    span = fields.pop("span")
    return fields | {"start": span["start"], "end": span["end"]}


def _read_document(
    library: Library,
    fields: Mapping[str, Any],
    chunks: Iterator[tuple[int, dict[str, Any]]],
    vectors: NDArray[np.float16],
    vector: NDArray[np.float16],
) -> None:
    store = library.store
    try:
        files = [_file(library, file) for file in fields["files"]]
        document = _document(fields)
        writer = _written(store, fields, chunks, vectors) if document.status.searchable else None
        # One change: a document that is seen without its tags would be passed over when the import is done again.
        with store.together():
            if writer is None:
                made = store.record_failure(document, files[0], fields["sha256"] or None)
            else:
                row = np.asarray(vector, dtype=np.float32)
                made = writer.finish(document, row if row.any() else None, seconds=fields["seconds"], files=files)
            for file in files:
                store.link(file, made)
            store.tag([made], fields["tags"])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        title = fields.get("title")
        raise LibraryError(f"The export says something of {title!r} that cannot be read: {error}.") from error
    fault_point("import.document")


def _written(
    store: Store,
    fields: Mapping[str, Any],
    chunks: Iterator[tuple[int, dict[str, Any]]],
    vectors: NDArray[np.float16],
) -> DocumentWriter:
    """A document with its chunks and pages in the store, not seen yet."""
    writer = store.begin(fields["sha256"] or None, fields["bytes"], fields["media_type"])
    for batch in _batches(chunks):
        read = [_chunk(line) for _, line in batch]
        rows = np.asarray(vectors[[row for row, _ in batch]], dtype=np.float32)
        keys = _keys([one.text for one in read], store.recipe)
        store.put_embeddings(dict(zip(keys, rows, strict=True)))
        writer.write(read, keys)
    writer.pages(_pages(fields["pages"]), [Heading(**heading) for heading in fields["headings"]])
    return writer


def _keys(texts: Sequence[str], recipe: Recipe) -> Sequence[bytes]:
    """What imported embeddings are kept by. An export does not tell windows: no other document meets these keys."""
    return window_keys(texts) if recipe.window else [text_hash(text) for text in texts]


def _file(library: Library, fields: Mapping[str, Any]) -> FoundFile:
    source = None if fields["source"] is None else library.store.add_source(fields["source"])
    return FoundFile(fields["path"], fields["size"], fields["mtime_ns"], source)


def _document(fields: Mapping[str, Any]) -> Document:
    own = {name: fields[name] for name in Document.__dataclass_fields__}
    own["status"] = Status(own["status"])
    own["unread_pages"], own["remarks"] = tuple(own["unread_pages"]), tuple(own["remarks"])
    return Document(**own)


def _chunk(fields: Mapping[str, Any]) -> Chunk:
    own = {name: fields[name] for name in Chunk.__dataclass_fields__ if name != "span"}
    own["headings"] = tuple(own["headings"])
    return Chunk(span=Span(fields["start"], fields["end"]), **own)


def _pages(listed: Iterable[Mapping[str, Any]]) -> Iterator[StoredPage]:
    for position, fields in enumerate(listed):
        span = Span(fields["start"], fields["end"])
        runs = tuple((int(cleaned), int(original)) for cleaned, original in fields["offsets"])
        offsets = OffsetMap(runs, len(span), fields["original_length"])
        yield StoredPage(
            position, fields["number"], fields["label"], span, offsets, fields["language"], fields["unread"]
        )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise LibraryError(f"Line {number} of {path} cannot be read: {error}.") from error


def _array(path: Path) -> NDArray[np.float16]:
    array: NDArray[np.float16] = np.load(path, allow_pickle=False)
    if array.dtype != np.float16 or array.ndim != 2:
        raise LibraryError(f"{path} does not hold float16 rows.")
    return array


def _check_parts(folder: Path, manifest: Mapping[str, Any]) -> None:
    for name in _PARTS:
        if not (folder / name).is_file() or _digest(folder / name) != manifest["sha256"].get(name):
            raise LibraryError(f"{folder / name} is missing or not as it was exported; nothing was imported.")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _line(fields: Mapping[str, Any]) -> str:
    # ASCII, so that an undecodable byte of a path, a lone surrogate here, comes back as it was.
    return json.dumps(fields) + "\n"


def _new_file(path: Path) -> TextIO:
    """A new text file that its user alone can read."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8")


def _new_rows(path: Path, count: int, dimension: int) -> BinaryIO:
    """A new .npy file of float16 rows, whose header is written already."""
    file = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
    header = {"descr": "<f2", "fortran_order": False, "shape": (count, dimension)}
    np.lib.format.write_array_header_1_0(file, header)
    return file


def _batches(values: Iterator[_Item]) -> Iterator[list[_Item]]:
    while batch := list(islice(values, _BATCH)):
        yield batch
