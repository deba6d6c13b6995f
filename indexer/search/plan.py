"""From a parsed query to what is asked of each side: its scope, its words, its language, its vectors."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from indexer.datatypes import Matrix, Mode
from indexer.fold import fold
from indexer.lexical import match_expression
from indexer.library import Library
from indexer.search.fusion import attainable, inverse_document_frequency
from indexer.search.languages import query_language, small_words, unknown_words_language
from indexer.search.options import SearchOptions
from indexer.search.query import Query, is_long, pieces_of
from indexer.search.retrieve import Request, refined
from indexer.search.scope import Scope, read_scope
from indexer.search.spelling import Words, read_words, said_of

_RARE = 0.02
_COVERED = 0.5


@dataclass(frozen=True, slots=True)
class Plan:
    """What a search asks of the library, and what the person should know about it.

    ``weights`` are those of the terms that are looked for; ``covered`` the share of the query's weight in terms that
    the library has at all; ``nothing`` a sentence for when nothing can be found.
    """

    request: Request
    mode: Mode
    language: str
    weights: Mapping[str, float]
    covered: float
    warnings: tuple[str, ...] = ()
    nothing: str | None = None


def plan(library: Library, query: Query, options: SearchOptions) -> Plan:
    """Decide how a query is asked."""
    present = {name: mean.chunk_count for name, mean in library.store.language_means().items()}
    chunks = sum(present.values())
    language = query_language(query.text, present)
    scope = read_scope(library, query, options)
    words = read_words(library, query, rare=present.get(language, 0) < _RARE * chunks)
    if not words.covered(chunks):
        language = unknown_words_language(query.text, language)
    across = options.across
    if across is None:
        elsewhere = bool(scope.languages) and not any(name.partition("-")[0] == language for name in scope.languages)
        across = elsewhere or (present.get(language, 0) < _RARE * chunks and words.covered(chunks) < _COVERED)
    mode = Mode.DENSE if across and options.mode is Mode.HYBRID else options.mode
    small = small_words(language)
    return Plan(
        Request(
            vectors=None if mode is Mode.LEXICAL else _vectors(library, query.text, words, language, options),
            match=None if mode is Mode.DENSE else _match(query, words, scope),
            attainable=attainable(words.weighed, chunks),
            terms=tuple(words.weighed),
            language=language,
            documents=scope.documents,
            chunks=scope.chunks,
            forbidden=scope.forbidden,
        ),
        mode,
        language,
        {
            term: inverse_document_frequency(count, chunks)
            for term, count in words.weighed.items()
            if count and (term not in small or len(words.weighed) == 1)
        },
        words.covered(chunks),
        (*query.warnings, *scope.warnings, *said_of(words)),
        scope.nothing,
    )


def _match(query: Query, words: Words, scope: Scope) -> str | None:
    wanted = " ".join(words.frequencies) if is_long(query.text) else query.text
    return match_expression(
        wanted, phrases=query.phrases if scope.chunks is not None else (), alternatives=words.instead
    )


def _vectors(library: Library, text: str, words: Words, language: str, options: SearchOptions) -> Matrix:
    if words.corrected:
        text = " ".join(words.corrected.get(fold(word).strip(string.punctuation), word) for word in text.split())
    pieces = pieces_of(text) if is_long(text) else [text]
    vectors = library.means.centre_queries(library.encoder.encode_query(pieces), language)
    if options.more or options.less:
        more, less = (library.rows(np.array(ids, dtype=np.int64)) for ids in (options.more, options.less))
        vectors = refined(vectors, more, less)
    return vectors
