"""How much of a query a whole document speaks of: its words may stand far apart, the name on the first page only.

The share of the query's terms, weighted by how few documents have them, that stand anywhere in a document. Added to
its chunks' scores it gained 0.02 nDCG@10 on multifieldqa_zh and 0.006 on covidqa (tests/benchmarks/quality.py). That a
document in another language has none of the words says nothing: it is given the mean of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Ids
from indexer.lexical import term_expression
from indexer.library import Library
from indexer.search.fusion import Scores
from indexer.search.owners import owners_of

_COMMON = 5_000
"""Chunks with a term above which it is passed over: most long documents have it, and counting them costs much."""

_DOCUMENTS_TO_TRUST = 24


def coverage(library: Library, terms: Sequence[str], language: str, chunks: Ids, documents: Ids) -> Scores:
    """The coverage of each chunk's document, 0 to nearly 1; ``documents`` are the chunks' owners, in order."""
    if not len(chunks) or not terms:
        return np.zeros(len(chunks), dtype=np.float32)
    wanted, place = np.unique(documents, return_inverse=True)
    covered = np.zeros(len(wanted), dtype=np.float64)
    whole = 0.0
    every = library.store.counts().documents
    owners = owners_of(library)
    for term in terms:
        found = library.store.lexical_ids(term_expression(term), _COMMON)
        if len(found) >= _COMMON:
            continue
        having = np.unique(owners.of(found))
        weight = float(np.log(1 + (every - len(having) + 0.5) / (len(having) + 0.5)))
        whole += weight
        covered[np.isin(wanted, having)] += weight
    shares = (covered / whole if whole else covered)[place]
    # Among a handful of documents it is chance which words stand where.
    trust = every / (every + _DOCUMENTS_TO_TRUST)
    return (trust * _fair(shares, _speaks(library, language, chunks))).astype(np.float32)


def _fair(shares: NDArray[np.float64], same_language: NDArray[np.bool_]) -> NDArray[np.float64]:
    if same_language.any() and not same_language.all():
        shares = shares.copy()
        shares[~same_language] = np.maximum(shares[~same_language], shares[same_language].mean())
    return shares


def _speaks(library: Library, language: str, chunks: Ids) -> NDArray[np.bool_]:
    """Which chunks are in a language."""
    return np.array([one.partition("-")[0] == language for one in library.store.chunk_languages(chunks)])
