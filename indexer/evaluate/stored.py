"""Runs kept in a file, so that a later one can be compared to them query by query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from indexer.datatypes import Mode
from indexer.errors import EvaluationError
from indexer.evaluate.run import Evaluation, QueryResult


def evaluation_json(evaluation: Evaluation, *, per_query: bool = False) -> dict[str, Any]:
    """An evaluation as the contract has it, with every query's result on request."""
    value: dict[str, Any] = {
        "name": evaluation.name,
        "mode": evaluation.mode.value,
        "documents": evaluation.documents,
        "queries": len(evaluation.results),
        **{name: None if figure is None else round(figure, 4) for name, figure in evaluation.figures.items()},
        "tokens": evaluation.tokens,
        "seconds": round(evaluation.seconds, 2),
    }
    if per_query:
        value["results"] = [
            {
                "id": result.id,
                "query": result.query,
                "documents": list(result.documents),
                "ndcg@10": result.ndcg,
                "recall@10": result.recall,
                "first_right": result.first_right,
                "chunk_rank": result.chunk_rank,
                "within_reading": result.within_reading,
            }
            for result in evaluation.results
        ]
    return value


def save_evaluation(evaluation: Evaluation, path: Path) -> None:
    """Keep a run with every query's result; raises EvaluationError when the file cannot be written."""
    try:
        path.write_text(
            json.dumps(evaluation_json(evaluation, per_query=True), ensure_ascii=False, indent=1), encoding="utf-8"
        )
    except OSError as error:
        raise EvaluationError(f"The run could not be saved to {path}: {error.strerror}.") from error


def load_evaluation(path: Path) -> Evaluation:
    """A run kept by ``save_evaluation``; raises EvaluationError for a file that is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        results = tuple(
            QueryResult(
                str(row["id"]),
                str(row["query"]),
                tuple(row["documents"]),
                float(row["ndcg@10"]),
                float(row["recall@10"]),
                row["first_right"],
                row["chunk_rank"],
                row["within_reading"],
            )
            for row in value["results"]
        )
        return Evaluation(
            str(value["name"]), Mode(value["mode"]), value["documents"], value["tokens"], value["seconds"], results
        )
    except OSError as error:
        raise EvaluationError(f"The run {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise EvaluationError(f"{path} is no run saved by `longdoc evaluate --save`: {error}.") from error
