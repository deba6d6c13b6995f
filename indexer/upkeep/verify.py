"""Whether a library is whole: SQLite's own checks, every document, what is derived, and the files it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from indexer.errors import DamagedError, LongdocError
from indexer.library import Library, drop_indexes
from indexer.sealed import OtherFormatError
from indexer.store import Pruned
from indexer.upkeep.sampled import Sampled, encode_again
from indexer.vectors import VectorIndex

Watch = Callable[[str, int, int], None]
"""Is told what is being checked, how much of it is done, and how much there is."""


class Severity(StrEnum):
    """What a finding means: a remark, something derived that can be made anew, or kept data that is damaged."""

    NOTE = "note"
    DERIVED = "derived"
    DAMAGE = "damage"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that ``verify`` found, and the document it is about if it is about one."""

    severity: Severity
    what: str
    document_id: int | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """All that was found, and what of it was repaired."""

    findings: tuple[Finding, ...]
    documents: int
    repaired: tuple[str, ...] = field(default=())
    sampled: Sampled | None = None

    @property
    def sound(self) -> bool:
        """Nothing is wrong, remarks aside, or everything that was wrong has been repaired."""
        return not self.damaged and (not self.derived or bool(self.repaired))

    @property
    def damaged(self) -> tuple[Finding, ...]:
        """What only a backup or adding the files again can mend."""
        return tuple(one for one in self.findings if one.severity is Severity.DAMAGE)

    @property
    def derived(self) -> tuple[Finding, ...]:
        """What ``--repair`` mends."""
        return tuple(one for one in self.findings if one.severity is Severity.DERIVED)

    @property
    def affected(self) -> tuple[int, ...]:
        """The ids of the documents that are damaged."""
        return tuple(sorted({one.document_id for one in self.damaged if one.document_id is not None}))


def verify(library: Library, *, repair: bool = False, sample: int = 0, watch: Watch | None = None) -> Verification:
    """Check a library. With ``repair``, what can be derived is made anew (needs the writer lock of the caller).

    ``sample`` chunks are encoded again and compared with what is stored.
    """
    findings = list(_file(library))
    ids = _or_none(library.store.document_ids, findings)
    for number, document_id in enumerate(ids):
        if watch is not None:
            watch("Checking", number, len(ids))
        findings += [
            Finding(Severity.DAMAGE, what, document_id) for what in library.store.check_document(int(document_id))
        ]
    for check in (_derived, _index, _encoder, _files):
        try:
            findings += check(library)
        except DamagedError as error:
            findings.append(Finding(Severity.DAMAGE, str(error)))
    repaired = tuple(_repair(library)) if repair and any(f.severity is Severity.DERIVED for f in findings) else ()
    sampled = encode_again(library, sample) if sample else None
    for chunk, document, cosine in sampled.wrong if sampled else ():
        what = f"the embedding of chunk {chunk} is not that of its text (cosine {cosine:.3f})"
        findings.append(Finding(Severity.DAMAGE, what, document))
    return Verification(tuple(findings), len(ids), repaired, sampled)


def prune(library: Library, *, keep_recipes: bool = False) -> Pruned:
    """Drop what nothing refers to any more, vector indexes of dropped recipes included; needs the writer lock."""
    library.save_vectors()  # the log of what was removed goes too: an index that has not followed it is made anew
    pruned = library.store.prune(keep_recipes=keep_recipes)
    paths = [library.index_path(recipe.id) for recipe in library.store.recipes()]
    drop_indexes(library.directory, keep=[*paths, *(path.with_suffix(".rows") for path in paths)])
    return pruned


def _or_none(read: Callable[[], np.ndarray[tuple[int], np.dtype[np.int64]]], findings: list[Finding]) -> list[int]:
    try:
        return [int(one) for one in read()]
    except DamagedError:
        findings.append(Finding(Severity.DAMAGE, "the list of documents cannot be read"))
        return []


def _file(library: Library) -> Iterator[Finding]:
    for what in library.store.check_file():
        yield Finding(Severity.DAMAGE, what)


def _derived(library: Library) -> Iterator[Finding]:
    if not library.store.lexical_is_current():
        yield Finding(Severity.DERIVED, "the full-text table was cut by another version of this program")
    for what in (*library.store.check_lexical(), *library.store.check_languages()):
        yield Finding(Severity.DERIVED, what)
    if library.writer is None and (left := library.store.unfinished()):
        yield Finding(Severity.NOTE, f"{left} documents were left half written; the next writing command drops them")
    if pending := len(library.store.pending_documents(library.store.recipe_id)):
        yield Finding(Severity.NOTE, f"{pending} documents are not in the recipe in use; run `longdoc reindex`")


def _index(library: Library) -> Iterator[Finding]:
    """What the file of the vector index holds, against what is in the store."""
    path = library.index_path()
    if not path.exists():
        return  # it is written when it has grown worth writing
    try:
        index = VectorIndex.load(path, library.store.recipe.dimension, library.rows)
    except OtherFormatError as error:
        yield Finding(Severity.NOTE, f"{error} It is made anew when it is next needed.")
        return
    except DamagedError as error:
        yield Finding(Severity.DERIVED, f"{error} It is made anew when it is next needed.")
        return
    if index.stamp != library.stamp():
        yield Finding(Severity.NOTE, "the file of the vector index is behind the library; it is caught up when needed")
        index = library.vectors
    difference = np.setxor1d(index.ids, library.store.chunk_ids())
    if len(difference):
        yield Finding(Severity.DERIVED, f"{len(difference)} chunks are only in the vector index or only in the library")
    # A remark: another library's records look so too, and all are written again when they are read.
    if damaged := library.row_file(library.stamp()).damaged(index.ids):
        yield Finding(Severity.NOTE, f"{damaged} embeddings beside the index are damaged; the library has them whole")


def _encoder(library: Library) -> Iterator[Finding]:
    from indexer.encode import describe_encoder

    recipe = library.store.recipe
    try:
        found = describe_encoder(recipe.encoder, library.settings)
    except LongdocError as error:
        yield Finding(Severity.NOTE, f"the encoder {recipe.encoder} cannot be found ({error})")
        return
    if found.fingerprint != recipe.fingerprint:
        yield Finding(
            Severity.NOTE,
            f"the encoder {recipe.encoder} has other weights here than those the library was built with; "
            "run `longdoc reindex`",
        )


def _files(library: Library) -> Iterator[Finding]:
    """Files that are gone or have changed since they were read."""
    missing = [Path(source.path) for source in library.store.sources() if not Path(source.path).exists()]
    for source in missing:
        yield Finding(Severity.NOTE, f"the source {source} is not there now; its documents are kept")
    for file in library.store.files():
        path = Path(file.path)
        if any(path.is_relative_to(source) for source in missing):
            continue
        if file.unread is not None:
            why = f"could not be read ({file.unread.reason or file.unread.status})"
            yield Finding(Severity.NOTE, f"{path} has changed and {why}; the version before is kept", file.document_id)
        try:
            status = path.stat()
        except OSError:
            yield Finding(Severity.NOTE, f"{path} is gone; `longdoc sync` follows", file.document_id)
            continue
        if (status.st_size, status.st_mtime_ns) != (file.size, file.mtime_ns):
            yield Finding(Severity.NOTE, f"{path} has changed since; `longdoc sync` follows", file.document_id)


def _repair(library: Library) -> Iterator[str]:
    library.store.rebuild_lexical()
    yield "the full-text table was made anew"
    library.store.rebuild_languages()
    yield "the language means were summed anew"
    library.rebuild_vectors()
    yield "the vector index was made anew"
