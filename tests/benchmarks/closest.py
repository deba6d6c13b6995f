"""What choosing sentences by meaning costs a search, and how often the chosen one has the answer.

    python -m tests.benchmarks.closest FOLDER [--queries 100]

FOLDER is a judged collection. In one without words in common (`xquad_en_to_zh`) every hit needs a sentence, which shows
the cost. In one with spans.jsonl, the sentence of every found chunk that has the answer is chosen by meaning, words or
not: how often it overlaps the answer, beside the chunk's first sentence and one at random.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from indexer.datatypes import Hit, Span
from indexer.evaluate.building import collection_id, collection_library, original_spans
from indexer.evaluate.collection import Collection, read_collection
from indexer.library import Library
from indexer.search import SearchOptions, search_library
from indexer.search.closest import BUDGET, closest_sentences
from indexer.search.highlight import trimmed
from indexer.search.languages import query_language
from indexer.sentences import sentences
from indexer.settings import load_settings


def overlaps(library: Library, hit: Hit, sentence: Span, answers: list[Span]) -> bool:
    (place,) = original_spans(library, hit.document.id, [sentence.shifted(hit.span.start)])
    return any(place.start < answer.end and answer.start < place.end for answer in answers)


def judged(library: Library, collection: Collection, query: str, hits: Sequence[Hit]) -> Iterator[tuple[float, ...]]:
    """Of the hits that have an answer: whether the nearest sentence, the first and a share of all overlap it."""
    text = collection.queries[query]
    language = query_language(text, {"en": 1, "zh": 1})
    rows = library.means.centre_queries(library.encoder.encode_query([text]), language)
    for hit in hits:
        name = collection_id(hit.document.paths[0])
        answers = [answer.span for answer in collection.answers.get(query, ()) if answer.document == name]
        every = [span for one in sentences(hit.text) if (span := trimmed(hit.text, one.span)).end > span.start]
        right = [overlaps(library, hit, span, answers) for span in every]
        if any(right) and len(every) > 1:
            chosen = closest_sentences(library, [replace(hit, sentence=None)], rows, budget=1e9)[hit.chunk_id]
            yield overlaps(library, hit, chosen, answers), right[0], float(np.mean(right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=100)
    arguments = parser.parse_args()
    collection = read_collection(arguments.folder)
    seconds: dict[float, list[float]] = {BUDGET: [], 1e9: []}
    marked: dict[float, list[float]] = {BUDGET: [], 1e9: []}
    right: list[tuple[float, ...]] = []
    with collection_library(collection, load_settings()) as library:
        for query in collection.judged[: arguments.queries]:
            text = collection.queries[query]
            for budget in seconds:
                spent = []

                def timed(*given, budget=budget, spent=spent):  # type: ignore[no-untyped-def]  # stands in for one call
                    started = time.perf_counter()
                    found = closest_sentences(*given, budget=budget)
                    spent.append(time.perf_counter() - started)
                    return found

                with patch("indexer.search.hits.closest_sentences", timed):
                    hits = search_library(library, text, SearchOptions()).hits
                seconds[budget] += spent
                marked[budget].append(float(np.mean([hit.sentence is not None for hit in hits])))
            right += judged(library, collection, query, hits)
    for budget, spent in seconds.items():
        p50, p95 = np.percentile(np.array(spent) * 1000, [50, 95])
        share = np.mean(marked[budget])
        print(f"budget {budget:g} s: adds {p50:.0f} ms (p50), {p95:.0f} ms (p95); {share:.0%} of ten hits marked")
    if right:
        chosen, first, chance = np.mean(right, axis=0)
        print(f"{len(right)} right chunks: chosen {chosen:.2f}, the first {first:.2f}, at random {chance:.2f}")


if __name__ == "__main__":
    main()
