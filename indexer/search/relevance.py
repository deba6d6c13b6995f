"""Whether the best that was found answers a query at all: measured against questions that have nothing to do with it.

The evidence of a search is how far its best cosine stands out (in standard deviations) and how much of the query's
words its best chunk has. What unrelated questions reach in the same library is the measure: three in four of them stay
below it. (On cmrc2018_zh and xquad_both, questions of the other set pass in 5 to 10 %, their own in 95 to 99 %.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

import numpy as np

from indexer.lexical import match_expression, query_terms
from indexer.library import Library
from indexer.search.fusion import attainable
from indexer.search.retrieve import Ranking, Request, retrieve

KEY = "relevance"
_LEXICAL_PART = 1.5
_PASSING = 75
_CERTAIN_SHARE = 0.9
_DEPTH = 20


@lru_cache(maxsize=1)
def unrelated_questions() -> dict[str, list[str]]:
    """Questions on far apart subjects, in English and Chinese."""
    text = files("indexer.search").joinpath("unrelated.json").read_text(encoding="utf-8")
    return {language: list(listed) for language, listed in json.loads(text).items()}


def evidence(ranking: Ranking) -> float:
    """How much speaks for a ranking's best chunks being an answer."""
    if not len(ranking):
        return 0.0
    return float((np.nan_to_num(ranking.dense) + _LEXICAL_PART * ranking.shares).max())


def calibrate(library: Library) -> None:
    """Ask the unrelated questions and keep what they reach; needs the writer lock."""
    chunks = library.store.counts().chunks
    reached: dict[str, float] = {}
    for language, listed in unrelated_questions().items():
        vectors = library.means.centre_queries(library.encoder.encode_query(listed), language)
        found: list[float] = []
        for question, vector in zip(listed, vectors, strict=True):
            terms = query_terms(question)
            counts = library.store.term_counts(terms)
            expected = attainable({term: counts.get(term, 0) for term in terms}, chunks)
            request = Request(vector[None, :], match_expression(question), expected)
            found.append(evidence(retrieve(library, request, depth=_DEPTH)))
        reached[language] = float(np.percentile(found, _PASSING))
    library.store.meta_set(KEY, {"means": library.means.version, "thresholds": reached})


def is_relevant(library: Library, language: str, ranking: Ranking) -> bool:
    """Whether a ranking stands out from what unrelated questions reach; True where that was never measured."""
    kept: Mapping[str, Mapping[str, float]] | None = library.store.meta_get(KEY)
    if kept is None or not len(ranking):
        return len(ranking) > 0
    thresholds = kept["thresholds"]
    threshold = thresholds.get(language, float(np.mean(list(thresholds.values()))))
    return evidence(ranking) > threshold or float(ranking.shares.max()) >= _CERTAIN_SHARE
