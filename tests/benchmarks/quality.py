"""How well passages are found: the usual recipe, BM25 alone and longdoc, on judged collections, in one run.

    python -m tests.benchmarks.quality [--sets covidqa,multifieldqa_zh] [--no-naive] [--queries 100]

The collections are looked for in ../shared/eval beside the checkout, or where LONGDOC_EVAL says. The usual recipe is
that of naive.py; all use the same encoder, and embeddings are kept in the cache, so that a second run takes seconds.
The last column is for collections whose questions belong to one document each: how often the answer stands in the
first 1,024 tokens when that document is the one that is searched.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from indexer.datatypes import Mode
from indexer.evaluate import EvaluateOptions, Evaluation, compare_evaluations, evaluate_library, read_collection
from indexer.evaluate.building import collection_library
from indexer.evaluate.run import READ_TOKENS
from indexer.settings import load_settings
from tests.benchmarks.naive import evaluate_naive

SETS = (
    "covidqa", "qmsum", "multifieldqa_zh", "drcd_zh_hant", "cmrc2018_zh", "xquad_both", "xquad_en_to_zh",
    "xquad_zh_to_en", "cranfield",
)  # fmt: skip


def folder_of_sets() -> Path:
    chosen = os.environ.get("LONGDOC_EVAL")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[3] / "shared" / "eval"


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
    runs = [EvaluateOptions(mode, arguments.queries) for mode in (Mode.LEXICAL, Mode.DENSE, Mode.HYBRID)]
    runs.append(EvaluateOptions(queries=arguments.queries, within=True))
    print(
        "| set | documents, queries | naive | BM25 | meaning alone | longdoc "
        "| answers in 1,024 tokens: naive, BM25, longdoc | the document given |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in arguments.sets.split(","):
        if not (folder_of_sets() / name).is_dir():
            print(f"{folder_of_sets() / name} is absent: skipped", file=sys.stderr)
            continue
        collection = read_collection(folder_of_sets() / name)
        with collection_library(collection, settings) as library:
            lexical, dense, ours, within = (evaluate_library(library, collection, options) for options in runs)
        naive = None if arguments.no_naive else evaluate_naive(collection, settings, arguments.queries)
        print(
            f"| {name} | {len(collection.documents)}, {len(ours.results)} | {figures(naive)} | {figures(lexical)} "
            f"| {figures(dense)} | {figures(ours)} | {answers(naive)}, {answers(lexical)}, {answers(ours)} "
            f"| {answers(within)} |",
            flush=True,
        )
        for other in filter(None, (naive, lexical)):
            one = compare_evaluations(ours, other)[0]
            label = "naive" if other is naive else "BM25"
            print(f"  {name}: longdoc less {label}: {one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
