"""How well passages are found: the usual recipe, BM25 alone and longdoc, on judged collections, in one run.

    python -m tests.benchmarks.quality [--sets covidqa,multifieldqa_zh] [--no-naive] [--queries 100]

The collections are looked for in ../shared/eval beside the checkout, or where LONGDOC_EVAL says. ``naive`` is what most
tutorials build: windows of 507 tokens that overlap by 50, cosines to all of them, a document by its best window. All
three use the same encoder; embeddings are kept in the cache, so that a second run takes seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.datatypes import Ids, Matrix, Mode, Span
from indexer.encode import load_encoder
from indexer.evaluate import (
    Collection,
    EvaluateOptions,
    Evaluation,
    compare_evaluations,
    evaluate_library,
    read_collection,
)
from indexer.evaluate.building import collection_library, library_directory
from indexer.evaluate.figures import first_right, ndcg, recall
from indexer.evaluate.run import READ_TOKENS, QueryResult, covers
from indexer.settings import Settings, load_settings

SETS = (
    "covidqa", "qmsum", "multifieldqa_zh", "drcd_zh_hant", "cmrc2018_zh", "xquad_both", "xquad_en_to_zh",
    "xquad_zh_to_en", "cranfield",
)  # fmt: skip
WINDOW, OVERLAP = 507, 50


@dataclass(frozen=True)
class Windows:
    """Fixed windows over a collection: whose they are, where, how many tokens, and their raw embeddings."""

    owners: Ids
    spans: tuple[Span, ...]
    tokens: tuple[int, ...]
    rows: Matrix
    queries: Matrix


def folder_of_sets() -> Path:
    chosen = os.environ.get("LONGDOC_EVAL")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[3] / "shared" / "eval"


def windows(text: str, encoder: object, width: int) -> Iterator[Span]:
    pieces = encoder._tokenizer.pieces(text, 1)  # type: ignore[attr-defined]  # no part of the Encoder protocol
    starts = np.cumsum([0, *map(len, pieces)])
    for first in range(0, max(len(pieces) - OVERLAP, 1), width - OVERLAP):
        yield Span(int(starts[first]), int(starts[min(first + width, len(pieces))]))


def naive_windows(collection: Collection, settings: Settings) -> Windows:
    encoder = load_encoder(settings.encoder, settings=settings)
    path = library_directory(settings, collection, encoder.fingerprint) / "naive.npz"
    width = min(WINDOW, encoder.max_tokens)
    cut = [
        (number, span) for number, one in enumerate(collection.documents) for span in windows(one.text, encoder, width)
    ]
    texts = [span.of(collection.documents[number].text) for number, span in cut]
    if path.exists():
        with np.load(path, allow_pickle=False) as kept:
            rows, queries = kept["rows"].astype(np.float32), kept["queries"]
    else:
        rows = encoder.encode_documents(texts)
        queries = encoder.encode_query([collection.queries[query] for query in collection.judged])
        np.savez(path, rows=rows.astype(np.float16), queries=queries)
    owners = np.array([number for number, _ in cut], dtype=np.int64)
    return Windows(owners, tuple(span for _, span in cut), tuple(encoder.count_tokens(texts)), rows, queries)


def evaluate_naive(collection: Collection, settings: Settings) -> Evaluation:
    made = naive_windows(collection, settings)
    started = time.perf_counter()
    results = []
    for query, vector in zip(collection.judged, made.queries, strict=True):
        order = np.argsort(-(made.rows @ vector), kind="stable")
        names = [collection.documents[owner].id for owner in dict.fromkeys(made.owners[order].tolist())][:10]
        grades = collection.grades[query]
        rank, within = place_of_answer(collection, made, order, query)
        results.append(
            QueryResult(
                query,
                collection.queries[query],
                tuple(names),
                ndcg(names, grades),
                recall(names, grades),
                first_right(names, grades),
                rank,
                within,
            )  # fmt: skip
        )
    seconds = time.perf_counter() - started
    return Evaluation(collection.name, Mode.DENSE, len(collection.documents), sum(made.tokens), seconds, tuple(results))


def place_of_answer(collection: Collection, made: Windows, order: Ids, query: str) -> tuple[int | None, bool | None]:
    answers = collection.answers.get(query)
    if not answers:
        return None, None
    tokens = 0
    for rank, position in enumerate(order[:50].tolist(), start=1):
        tokens += made.tokens[position]
        name = collection.documents[int(made.owners[position])].id
        if any(answer.document == name and covers(made.spans[position], answer.span) for answer in answers):
            return rank, tokens <= READ_TOKENS
    return None, False


def figures(evaluation: Evaluation | None) -> str:
    if evaluation is None:
        return "-"
    values = evaluation.figures
    return f"{values['hit@1']:.3f} / {values['ndcg@10']:.3f}"


def answers(evaluation: Evaluation | None) -> str:
    value = evaluation.figures[f"answers_in_{READ_TOKENS}"] if evaluation else None
    return "-" if value is None else f"{value:.3f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--no-naive", action="store_true")
    parser.add_argument("--queries", type=int)
    arguments = parser.parse_args()
    settings = load_settings()
    modes = [EvaluateOptions(mode, arguments.queries) for mode in (Mode.LEXICAL, Mode.DENSE, Mode.HYBRID)]
    print(
        "| set | documents, queries | naive | BM25 | meaning alone | longdoc "
        "| answers in 1,024 tokens: naive, BM25, longdoc |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in arguments.sets.split(","):
        if not (folder_of_sets() / name).is_dir():
            print(f"{folder_of_sets() / name} is absent: skipped", file=sys.stderr)
            continue
        collection = read_collection(folder_of_sets() / name)
        with collection_library(collection, settings) as library:
            lexical, dense, ours = (evaluate_library(library, collection, options) for options in modes)
        naive = None if arguments.no_naive else evaluate_naive(collection, settings)
        print(
            f"| {name} | {len(collection.documents)}, {len(ours.results)} | {figures(naive)} | {figures(lexical)} "
            f"| {figures(dense)} | {figures(ours)} | {answers(naive)}, {answers(lexical)}, {answers(ours)} |",
            flush=True,
        )
        for other in filter(None, (naive, lexical)):
            one = compare_evaluations(ours, other)[0]
            label = "naive" if other is naive else "BM25"
            print(f"  {name}: longdoc less {label}: {one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
