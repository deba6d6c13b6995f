"""Find every near-duplicate of a library, and compare two of its documents."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indexer.datatypes import StoredDocument
from indexer.duplicates.align import Alignment, align
from indexer.duplicates.boilerplate import show_boilerplate
from indexer.duplicates.candidates import Candidates, Fingerprints, find_candidates
from indexer.duplicates.collection import Collection, LibraryCollection, Sides
from indexer.duplicates.differences import find_differences
from indexer.duplicates.groups import make_groups
from indexer.duplicates.kept import Kept, Print, Verdict, digests, key_of, read_kept, write_kept
from indexer.duplicates.relate import THRESHOLD, relate, same_text
from indexer.duplicates.results import Comparison, DuplicateReport, Pair, Relation
from indexer.duplicates.shingles import comparable, fingerprints, shingle_hashes
from indexer.duplicates.translations import find_translations

if TYPE_CHECKING:
    from indexer.library import Library

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much is done and how much there is."""

_BATCH = 256
_THREADS = 4


@dataclass(frozen=True, slots=True)
class DuplicateOptions:
    """``threshold``: the Jaccard index from which two texts count as versions. Translations need the embeddings."""

    threshold: float = THRESHOLD
    translations: bool = True


def find_duplicates(
    library: Library, options: DuplicateOptions | None = None, progress: Progress | None = None
) -> DuplicateReport:
    """Every group of near-duplicates in a library; none of its documents is changed.

    What is found of documents and pairs is kept beside the library, so that the next run reads only new documents.
    """
    options = options or DuplicateOptions()
    kept = read_kept(library.directory, options.threshold, library.store.recipe.fingerprint)
    translated = len(kept.translated)
    report = find_in(LibraryCollection(library), options, progress or _silent, kept)
    if report.read or report.aligned or len(kept.translated) != translated:
        write_kept(library.directory, kept)
    return report


def find_in(
    collection: Collection, options: DuplicateOptions, progress: Progress, kept: Kept | None = None
) -> DuplicateReport:
    """Every group of near-duplicates in a collection; what is in ``kept`` is not found again, the rest is added."""
    started = time.perf_counter()
    documents = list(collection.documents())
    kept = kept or Kept(options.threshold)
    kept.forget_all_but(documents)
    read = _read(collection, documents, kept, progress)
    prints = [kept.prints[key_of(document)] for document in documents]
    found = Fingerprints.of(prints)
    candidates = find_candidates(found, min(0.2, options.threshold / 2))
    pairs, aligned = _verified(collection, documents, candidates, kept, progress)
    if options.translations:
        pairs = with_translations(pairs, _translations(collection, documents, kept, progress))
    groups = make_groups({document.id: document for document in documents}, pairs)
    shown = show_boilerplate(collection, documents, found, candidates)
    seconds = time.perf_counter() - started
    return DuplicateReport(groups, shown, len(documents), len(candidates), seconds, read, aligned)


def compare_in(collection: Collection, a: StoredDocument, b: StoredDocument) -> Comparison:
    """Compare two documents of a collection directly, whether or not they are near-duplicates."""
    sides = Sides(collection, np.zeros(0, dtype=np.uint64))
    alignment = align(sides.of(a.id), sides.of(b.id))
    relation = relate(alignment)
    if relation is Relation.VERSION and same_text(collection.text(a.id), collection.text(b.id)):
        relation = Relation.SAME_TEXT
    pair = _pair(a.id, b.id, relation or Relation.BOILERPLATE, alignment)
    return Comparison(pair, find_differences(collection.text(pair.a), collection.text(pair.b)))


def compare(library: Library, a: int, b: int) -> Comparison:
    """How two documents relate and every place where they differ; raises DocumentNotFoundError."""
    return compare_in(LibraryCollection(library), library.store.document(a), library.store.document(b))


def _silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""


def _read(collection: Collection, documents: Sequence[StoredDocument], kept: Kept, progress: Progress) -> int:
    """Find the fingerprints of documents that are not known yet, in a few threads; how many there were."""
    new = [document for document in documents if key_of(document) not in kept.prints]

    def prints(batch: Sequence[StoredDocument]) -> list[Print]:
        texts = (comparable(collection.text(document.id)) for document in batch)
        return [Print(fingerprints(shingle_hashes(text)), len(text.encode("utf-8", "replace"))) for text in texts]

    batches = [new[start : start + _BATCH] for start in range(0, len(new), _BATCH)]
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        for number, (batch, found) in enumerate(zip(batches, pool.map(prints, batches), strict=True)):
            progress("Reading", number * _BATCH, len(new))
            kept.prints.update(zip(map(key_of, batch), found, strict=True))
    return len(new)


def _verified(
    collection: Collection, documents: Sequence[StoredDocument], candidates: Candidates, kept: Kept, progress: Progress
) -> tuple[list[Pair], int]:
    """The candidates that are related by more than boilerplate, and how many had to be aligned to know."""
    sides = Sides(collection, candidates.boilerplate)
    left_out = list(digests([kept.prints[key_of(document)] for document in documents], candidates.boilerplate))
    verdicts: dict[tuple[int, int], Verdict] = {}
    aligned = 0
    for number, (first, second) in enumerate(candidates):
        progress("Comparing", number, len(candidates))
        ids = documents[first].id, documents[second].id
        boilerplate = hash((left_out[first], left_out[second]))
        known = kept.verdicts.get(ids)
        if known is None or known.boilerplate != boilerplate:
            known = Verdict(boilerplate, _judged(collection, sides, ids, kept.threshold))
            aligned += 1
        verdicts[ids] = known
    kept.verdicts = verdicts
    return [verdict.pair for verdict in verdicts.values() if verdict.pair is not None], aligned


def _judged(collection: Collection, sides: Sides, ids: tuple[int, int], threshold: float) -> Pair | None:
    """Align two documents; their pair, or None when boilerplate at most ties them."""
    a, b = ids
    alignment = align(sides.of(a), sides.of(b))
    relation = relate(alignment, threshold)
    if relation is None or relation is Relation.BOILERPLATE:
        return None
    likely = relation is Relation.VERSION and alignment.raw_jaccard >= threshold and _nearly_all(alignment)
    if likely and same_text(collection.text(a), collection.text(b)):
        relation = Relation.SAME_TEXT
    return _pair(a, b, relation, alignment)


def _translations(
    collection: Collection, documents: Sequence[StoredDocument], kept: Kept, progress: Progress
) -> list[Pair]:
    """The translation candidates: those that are known, and those that new documents make.

    When a library has grown by half, the means of its languages may have moved: then all are compared again.
    """
    ids = {document.id for document in documents}
    new = ids - kept.translated
    if len(new) > len(kept.translated) / 2:
        new, kept.translations = ids, []
    kept.translations += find_translations(collection, documents, new, progress) if new else []
    kept.translated = ids
    return kept.translations


def with_translations(pairs: Sequence[Pair], translations: Sequence[Pair]) -> list[Pair]:
    """All pairs, each of two documents once: a translation says more of them than a section they share, else less."""
    translated = {frozenset((pair.a, pair.b)) for pair in translations}
    first = [
        pair for pair in pairs if not (pair.relation is Relation.SECTION and frozenset((pair.a, pair.b)) in translated)
    ]
    known = {frozenset((pair.a, pair.b)) for pair in first}
    return first + [pair for pair in translations if frozenset((pair.a, pair.b)) not in known]


def _nearly_all(alignment: Alignment) -> bool:
    """Whether it is worth looking closer: nearly all of one text is found in the other, and most the other way."""
    shares = sorted((alignment.share_a_in_b, alignment.share_b_in_a))
    return shares[0] >= 0.8 and shares[1] >= 0.97


def _pair(a: int, b: int, relation: Relation, alignment: Alignment) -> Pair:
    """The pair as it is reported; in a contained one the part comes first."""
    pair = Pair(
        a,
        b,
        relation,
        similarity=round(alignment.raw_jaccard, 4),
        share_a_in_b=round(alignment.share_a_in_b, 4),
        share_b_in_a=round(alignment.share_b_in_a, 4),
        in_order=round(alignment.in_order, 4),
        shared_chunks=alignment.shared_chunks,
        matches=alignment.matches,
        sections=alignment.sections,
    )
    return pair.turned() if relation is Relation.CONTAINED and pair.share_a_in_b < pair.share_b_in_a else pair
