"""Measuring a search on a judged collection: every query asked, every figure of the contract, query by query."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Encoder, Mode, Span
from indexer.evaluate.building import Progress, collection_id, collection_library, original_spans
from indexer.evaluate.collection import Answer, Collection, read_collection
from indexer.evaluate.figures import first_right, ndcg, recall
from indexer.evaluate.own import KINDS, own_collection
from indexer.library import Library
from indexer.search import Grouping, SearchOptions, parse_query, rank
from indexer.search.retrieve import Ranking
from indexer.settings import Settings

READ_TOKENS = 1024
"""Tokens of the first chunks, about what a person skims or a language model is given, in which an answer is sought."""

_CHUNKS_RANKED = 50
_DOCUMENTS_RANKED = 10


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What one query found: the documents ranked and the figures; ``chunk_rank`` is the first chunk's with the answer.

    ``within_reading`` is whether the answer stands within the first ``READ_TOKENS`` tokens; both None without a span.
    """

    id: str
    query: str
    documents: tuple[str, ...]
    ndcg: float
    recall: float
    first_right: int | None
    chunk_rank: int | None = None
    within_reading: bool | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A measured run; the figures are means over the judged queries."""

    name: str
    mode: Mode
    documents: int
    tokens: int
    seconds: float
    results: tuple[QueryResult, ...]

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures by their names in the contract; those of chunks are None where no answer's place is known."""
        placed = [result for result in self.results if result.within_reading is not None]
        return {
            "ndcg@10": _mean([result.ndcg for result in self.results]),
            "hit@1": _mean([result.first_right == 1 for result in self.results]),
            "recall@10": _mean([result.recall for result in self.results]),
            "mrr@10": _mean([1 / result.first_right if result.first_right else 0 for result in self.results]),
            "chunk_recall@5": _mean([bool(one.chunk_rank and one.chunk_rank <= 5) for one in placed]),
            "chunk_mrr@10": _mean(
                [1 / one.chunk_rank if one.chunk_rank and one.chunk_rank <= 10 else 0 for one in placed]
            ),
            f"answers_in_{READ_TOKENS}": _mean([bool(one.within_reading) for one in placed]),
        }

    def values(self, figure: str) -> NDArray[np.float64]:
        """One figure query by query, for a paired comparison."""
        listed: dict[str, list[float]] = {
            "ndcg@10": [result.ndcg for result in self.results],
            "hit@1": [float(result.first_right == 1) for result in self.results],
            "recall@10": [result.recall for result in self.results],
            "mrr@10": [1 / result.first_right if result.first_right else 0.0 for result in self.results],
        }
        return np.array(listed[figure], dtype=np.float64)


def _mean(values: Sequence[float | bool]) -> float | None:
    return float(np.mean(values)) if values else None


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """What is measured: the mode of the search, and only so many queries (None: all).

    ``within`` searches inside the right document of each query, which tells how well a place is found when the document
    is known; its document figures say nothing.
    """

    mode: Mode = Mode.HYBRID
    queries: int | None = None
    within: bool = False


def evaluate_folder(
    folder: Path,
    settings: Settings,
    modes: Sequence[EvaluateOptions] = (EvaluateOptions(),),
    *,
    encoder: Encoder | None = None,
    progress: Progress | None = None,
) -> tuple[Evaluation, ...]:
    """Measure the search on a BEIR folder, once for each of the options, on one library.

    The library is kept in the cache: what was encoded once is not encoded again. Raises EvaluationError for a folder
    that cannot be used.
    """
    collection = read_collection(folder)
    with collection_library(collection, settings, encoder=encoder, progress=progress) as library:
        return tuple(evaluate_library(library, collection, options) for options in modes)


def evaluate_own(
    library: Library,
    settings: Settings,
    modes: Sequence[EvaluateOptions] = (EvaluateOptions(),),
    *,
    progress: Progress | None = None,
) -> tuple[Evaluation, ...]:
    """Measure the search on a library's own documents, once for each of the options; ``by_kind`` parts a run.

    The changed documents lie in a directory that is removed afterwards; only what was changed is encoded. Raises
    EvaluationError when the library has too little text.
    """
    collection = own_collection(library, modes[0].queries or 100)
    recipe = library.store.recipe
    settings = replace(
        settings,
        encoder=recipe.encoder,
        chunk_tokens=recipe.chunk_tokens,
        chunk_minimum=recipe.chunk_minimum,
        window=recipe.window,
    )
    settings.cache.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(dir=settings.cache, prefix="own-") as directory,
        collection_library(
            collection, settings, encoder=library.encoder, progress=progress, directory=Path(directory), known=library
        ) as changed,
    ):
        return tuple(evaluate_library(changed, collection, replace(options, queries=None)) for options in modes)


def by_kind(evaluation: Evaluation) -> dict[str, Evaluation]:
    """A run over a library's own documents by what was asked: sentences taken out, and facts put in."""
    return {
        kind: replace(evaluation, name=f"{evaluation.name}, {kind}", results=results)
        for kind in KINDS
        if (results := tuple(result for result in evaluation.results if result.id.startswith(kind)))
    }


def evaluate_library(library: Library, collection: Collection, options: EvaluateOptions) -> Evaluation:
    """Ask every judged query of a library that holds the collection's documents."""
    started = time.perf_counter()
    names = _Names(library)
    wanted = collection.judged[: options.queries]
    results = tuple(_ask(library, collection, names, query, options) for query in wanted)
    tokens = sum(document.tokens for document in library.store.documents())
    return Evaluation(
        collection.name, options.mode, len(collection.documents), tokens, time.perf_counter() - started, results
    )


class _Names:
    """The collection's names for the library's documents."""

    def __init__(self, library: Library) -> None:
        self._names: dict[int, str] = {file.document_id: collection_id(file.path) for file in library.store.files()}

    def of(self, document_id: int) -> str:
        return self._names[document_id]

    def right(self, grades: Mapping[str, int]) -> int:
        """The best judged document of a query."""
        best = max(grades, key=lambda name: grades[name])
        return next(number for number, name in self._names.items() if name == best)


def _ask(library: Library, collection: Collection, names: _Names, query: str, wanted: EvaluateOptions) -> QueryResult:
    text = collection.queries[query]
    options = SearchOptions(k=max(_DOCUMENTS_RANKED, _CHUNKS_RANKED // 2), mode=wanted.mode, by=Grouping.DOCUMENT)
    if wanted.within:
        options = replace(options, document=names.right(collection.grades[query]))
    _, ranking = rank(library, parse_query(text), options)
    documents = tuple(names.of(one) for one in dict.fromkeys(ranking.documents.tolist()))[:_DOCUMENTS_RANKED]
    grades = collection.grades[query]
    answers = collection.answers.get(query, ())
    chunk_rank, within = _place_of_answer(library, ranking, names, answers) if answers else (None, None)
    return QueryResult(
        query, text, documents, ndcg(documents, grades), recall(documents, grades), first_right(documents, grades),
        chunk_rank, within,
    )  # fmt: skip


def _place_of_answer(
    library: Library, ranking: Ranking, names: _Names, answers: Sequence[Answer]
) -> tuple[int | None, bool]:
    """The rank of the first chunk that has an answer, and whether that is within what is read."""
    chunks = library.store.chunks(ranking.chunks[:_CHUNKS_RANKED])
    wanted: Mapping[str, list[Span]] = {}
    for answer in answers:
        wanted = {**wanted, answer.document: [*wanted.get(answer.document, []), answer.span]}
    tokens = 0
    for place, stored in enumerate(chunks, start=1):
        tokens += stored.chunk.tokens
        spans = wanted.get(names.of(stored.document_id))
        if spans:
            (original,) = original_spans(library, stored.document_id, [stored.chunk.span])
            if any(covers(original, span) for span in spans):
                return place, tokens <= READ_TOKENS
    return None, False


def covers(chunk: Span, answer: Span) -> bool:
    """Whether a chunk has an answer: at least half of the answer, or of the chunk where the answer is the longer."""
    common = min(chunk.end, answer.end) - max(chunk.start, answer.start)
    return common > 0 and 2 * common >= min(len(chunk), len(answer))
