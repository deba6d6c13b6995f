"""Where facts get lost: planted sentences asked for, by longdoc's chunks and by one vector a document or window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Encoder, Matrix, Mode, Vector
from indexer.errors import LongdocError
from indexer.ingest import AddOptions, add, remove
from indexer.library import Library
from indexer.parse import ReadOptions
from indexer.probe.haystack import Haystack, Needle, make_haystacks
from indexer.search import Grouping, SearchOptions, parse_query, rank
from indexer.settings import Settings

Announce = Callable[[str], None]
FOUND_WITHIN = 3
_DEEPEST = 200
_CHUNK_METHODS = {f"chunks, {mode.value}": mode for mode in (Mode.HYBRID, Mode.DENSE, Mode.LEXICAL)}
_VECTOR_METHODS = ("one vector, mean", "one vector, max", "first window")


@dataclass(frozen=True, slots=True)
class NeedleOptions:
    """What to plant: lengths in characters, depths from 0 to 1, and the seeds of facts and texts, a run for each."""

    lengths: tuple[int, ...] = (1_000, 10_000, 100_000)
    depths: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    seeds: tuple[int, ...] = (1,)


class Measure(StrEnum):
    """What is asked of a way of searching: the same of every way that can have it."""

    CHUNK = "its chunk within the first 3"
    DOCUMENT = "its document first"


@dataclass(frozen=True, slots=True)
class NeedleResult:
    """How one way of searching ranked a needle's chunk (None: it knows no chunks, or did not find it) and document."""

    method: str
    language: str
    length: int
    depth: float
    chunk_rank: int | None
    document_rank: int | None

    def found(self, measure: Measure) -> bool:
        """Whether the needle was found by that measure; texts are few, so a document has to be the first."""
        if measure is Measure.DOCUMENT:
            return self.document_rank == 1
        return self.chunk_rank is not None and self.chunk_rank <= FOUND_WITHIN


@dataclass(frozen=True, slots=True)
class NeedleReport:
    """Every needle under every method; ``documents`` were searched at a time, ``background`` counts characters."""

    results: tuple[NeedleResult, ...]
    documents: int
    background: dict[str, int] = field(default_factory=dict)

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.method for result in self.results))

    def methods_with(self, measure: Measure) -> tuple[str, ...]:
        """The ways of searching that a measure can be taken of: one vector for a whole text knows no chunks."""
        return tuple(one for one in self.methods if measure is Measure.DOCUMENT or one not in _VECTOR_METHODS)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.language for result in self.results))

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(sorted({result.length for result in self.results}))

    @property
    def depths(self) -> tuple[float, ...]:
        return tuple(sorted({result.depth for result in self.results}))

    def share(
        self,
        method: str,
        measure: Measure,
        *,
        length: int | None = None,
        depth: float | None = None,
        language: str | None = None,
    ) -> float:
        """The share of needles that a method found, of one length, depth or language or of all."""
        found = [
            result.found(measure)
            for result in self.results
            if result.method == method
            and length in (None, result.length)
            and depth in (None, result.depth)
            and language in (None, result.language)
        ]
        return sum(found) / len(found) if found else float("nan")

    def grid(self, method: str, measure: Measure) -> NDArray[np.float64]:
        """Shares found, of shape (depths, lengths)."""
        return np.array(
            [
                [self.share(method, measure, length=length, depth=depth) for length in self.lengths]
                for depth in self.depths
            ]
        )


def run_needle(
    backgrounds: dict[str, str],
    encoder: Encoder,
    settings: Settings,
    options: NeedleOptions,
    announce: Announce = lambda _line: None,
) -> NeedleReport:
    """Plant, ingest into a library that is thrown away afterwards, and ask for every needle by every method.

    ``backgrounds`` are texts by language (en, zh). Raises LongdocError when none is long enough.
    """
    plans = [make_haystacks(backgrounds, options.lengths, options.depths, seed) for seed in options.seeds]
    if not any(plans):
        raise LongdocError("There is too little text to hide facts in: add some documents first, or name a folder.")
    results: list[NeedleResult] = []
    with TemporaryDirectory(prefix="longdoc-needle-") as name:
        plain = replace(settings, library=Path(name) / "library")
        with Library.open(plain.library, plain, create=True, write=True, encoder=encoder) as library:
            for number, haystacks in enumerate(plans, start=1):
                which = f" of run {number} of {len(plans)}" if len(plans) > 1 else ""
                chars = sum(len(haystack.text) for haystack in haystacks)
                announce(f"reading and encoding {len(haystacks)} texts{which}, {chars:,} characters")
                folder = _write(haystacks, Path(name) / f"haystacks-{number}")
                add(library, [str(folder)], AddOptions(ReadOptions.from_settings(plain)))
                announce(f"asking for every fact{which}")
                results += _ask_all(library, encoder, haystacks)
                remove(library, [str(folder)])  # the embeddings stay: the next run's texts share most of them
    return NeedleReport(tuple(results), len(plans[0]), {name: len(text) for name, text in backgrounds.items()})


def _write(haystacks: Sequence[Haystack], folder: Path) -> Path:
    folder.mkdir()
    for haystack in haystacks:
        (folder / haystack.name).write_text(haystack.text, encoding="utf-8")
    return folder


def _ask_all(library: Library, encoder: Encoder, haystacks: Sequence[Haystack]) -> Iterator[NeedleResult]:
    documents = {Path(path).name: document.id for document in library.store.documents() for path in document.paths}
    vectors = _document_vectors(library, encoder, sorted(documents.values()))
    for haystack in haystacks:
        wanted = documents[haystack.name]
        for needle in haystack.needles:
            homes = _homes(library, wanted, needle)
            query = encoder.encode_query([needle.fact.question])[0]
            for method, mode in _CHUNK_METHODS.items():
                yield _result(method, needle, *_chunk_ranks(library, needle, mode, wanted, homes))
            for method, matrix in vectors.items():
                yield _result(
                    method, needle, None, _vector_rank(matrix, query, sorted(documents.values()).index(wanted))
                )


def _result(method: str, needle: Needle, chunk_rank: int | None, document_rank: int | None) -> NeedleResult:
    return NeedleResult(method, needle.fact.language, needle.length, needle.depth, chunk_rank, document_rank)


def _homes(library: Library, document_id: int, needle: Needle) -> set[int]:
    """The chunks that hold a needle, or most of it where a border cuts it."""
    text = "".join(stored.chunk.text for stored in library.store.document_chunks(document_id))
    start = text.find(needle.fact.sentence)
    if start < 0:
        raise LongdocError(f"The planted sentence {needle.fact.sentence!r} was not read back as it was written.")
    middle = start + len(needle.fact.sentence) // 2
    chunks = library.store.document_chunks(document_id)
    return {stored.id for stored in chunks if stored.chunk.span.start <= middle < stored.chunk.span.end}


def _chunk_ranks(
    library: Library, needle: Needle, mode: Mode, document_id: int, homes: set[int]
) -> tuple[int | None, int | None]:
    options = SearchOptions(k=_DEEPEST, mode=mode, by=Grouping.CHUNK, fold_copies=False)
    _, ranking = rank(library, parse_query(needle.fact.question), options)
    chunk_rank = next((at for at, chunk in enumerate(ranking.chunks, start=1) if int(chunk) in homes), None)
    order = list(dict.fromkeys(int(document) for document in ranking.documents))
    return chunk_rank, order.index(document_id) + 1 if document_id in order else None


def _document_vectors(library: Library, encoder: Encoder, ids: Sequence[int]) -> dict[str, Matrix]:
    """One unit vector a document, by each of the usual ways to have only one."""
    rows: dict[str, list[Vector]] = {method: [] for method in _VECTOR_METHODS}
    for document_id in ids:
        chunks = list(library.store.document_chunks(document_id))
        embeddings = library.store.chunk_embeddings(np.array([stored.id for stored in chunks], dtype=np.int64))
        rows["one vector, mean"].append(embeddings.mean(axis=0))
        rows["one vector, max"].append(embeddings.max(axis=0))
        window, tokens = "", 0
        for stored in chunks:
            if window and tokens + stored.chunk.tokens > encoder.max_tokens - 8:
                break
            window, tokens = window + stored.chunk.text, tokens + stored.chunk.tokens
        rows["first window"].append(encoder.encode_documents([window])[0])
    return {method: _unit(np.array(vectors, dtype=np.float32)) for method, vectors in rows.items()}


def _unit(matrix: Matrix) -> Matrix:
    scaled: Matrix = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return scaled


def _vector_rank(matrix: Matrix, query: Vector, wanted: int) -> int:
    """The rank of a row by its cosine to the query, ties counted against it."""
    cosines = matrix @ query
    return int((cosines > cosines[wanted]).sum() + (cosines == cosines[wanted]).sum())
