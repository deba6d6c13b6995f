"""Whether the best that was found answers a query at all: measured against questions that have nothing to do with it.

The evidence of a search is its best (centred) cosine and how much of the query's words its best chunk has. What
unrelated questions in the query's language reach in the same library is the measure, once for searches that look at
words too and once for those that go by meaning alone (``tests/benchmarks/relevance.py`` has the figures). The plain
cosine tells more than the standardised one: where all documents are about one thing, every question stands out from
the mean of so narrow a spread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

import numpy as np

from indexer.datatypes import Mode
from indexer.lexical import match_expression, query_terms
from indexer.library import Library
from indexer.search.fusion import attainable
from indexer.search.retrieve import Ranking, Request, retrieve

KEY = "nothing_found"
_LEXICAL_PART = 0.3
_DEVIATIONS = 1.25
"""Standard deviations above the mean of the unrelated questions from which a search has found something."""

_CERTAIN_SHARE = 0.9
_DEPTH = 20
_ALWAYS = ("en", "zh")


@lru_cache(maxsize=1)
def unrelated_questions() -> dict[str, list[str]]:
    """Questions on far apart subjects, by language."""
    text = files("indexer.search").joinpath("unrelated.json").read_text(encoding="utf-8")
    return {language: list(listed) for language, listed in json.loads(text).items()}


def evidence(ranking: Ranking, mode: Mode) -> float:
    """How much speaks for something in a ranking being an answer."""
    if not len(ranking):
        return 0.0
    words = 0.0 if mode is Mode.DENSE else _LEXICAL_PART * float(ranking.shares.max())
    return float(np.nan_to_num(ranking.cosines).max()) + words


def calibrate(library: Library) -> None:
    """Ask unrelated questions in English, Chinese and the library's languages and keep what they reach.

    Needs the writer lock.
    """
    chunks = library.store.counts().chunks
    languages = {*_ALWAYS, *(name.partition("-")[0] for name in library.store.language_means())}
    thresholds: dict[str, dict[str, float]] = {Mode.HYBRID: {}, Mode.DENSE: {}}
    for language in sorted(languages & unrelated_questions().keys()):
        listed = unrelated_questions()[language]
        vectors = library.means.centre_queries(library.encoder.encode_query(listed), language)
        found: list[Ranking] = []
        for question, vector in zip(listed, vectors, strict=True):
            terms = query_terms(question)
            counts = library.store.term_counts(terms)
            expected = attainable({term: counts.get(term, 0) for term in terms}, chunks)
            found.append(
                retrieve(library, Request(vector[None, :], match_expression(question), expected), depth=_DEPTH)
            )
        for mode, reached in thresholds.items():
            values = [evidence(ranking, Mode(mode)) for ranking in found]
            reached[language] = float(np.mean(values) + _DEVIATIONS * np.std(values))
    library.store.meta_set(KEY, {"means": library.means.version, "thresholds": thresholds})


def is_calibrated(library: Library) -> bool:
    """Whether it was ever measured what unrelated questions reach in this library."""
    return library.store.meta_get(KEY) is not None


def is_relevant(library: Library, language: str, mode: Mode, ranking: Ranking) -> bool:
    """Whether a ranking stands out from what unrelated questions reach; True where that was never measured."""
    kept = library.store.meta_get(KEY)
    if kept is None or not len(ranking):
        return len(ranking) > 0
    thresholds: Mapping[str, float] = kept["thresholds"][mode]
    # Calling a good hit irrelevant is the worse mistake: a language that was not measured has the lowest threshold.
    threshold = thresholds.get(language.partition("-")[0], min(thresholds.values()))
    return evidence(ranking, mode) > threshold or float(ranking.shares.max()) >= _CERTAIN_SHARE
