"""Measuring how well a library is searched: on judged collections, or on questions made from the library itself."""

from indexer.evaluate.collection import Collection, read_collection
from indexer.evaluate.compare import compare_evaluations
from indexer.evaluate.figures import Difference
from indexer.evaluate.own import KINDS
from indexer.evaluate.run import (
    EvaluateOptions,
    Evaluation,
    QueryResult,
    by_kind,
    evaluate_folder,
    evaluate_library,
    evaluate_own,
)
from indexer.evaluate.stored import evaluation_json, load_evaluation, save_evaluation

__all__ = [
    "KINDS",
    "Collection",
    "Difference",
    "EvaluateOptions",
    "Evaluation",
    "QueryResult",
    "by_kind",
    "compare_evaluations",
    "evaluate_folder",
    "evaluate_library",
    "evaluate_own",
    "evaluation_json",
    "load_evaluation",
    "read_collection",
    "save_evaluation",
]
