"""Two runs side by side: which is better, by how much, and whether chance alone would do it."""

from __future__ import annotations

from dataclasses import replace

from indexer.errors import EvaluationError
from indexer.evaluate.figures import Difference, paired_bootstrap
from indexer.evaluate.run import Evaluation

FIGURES = ("ndcg@10", "hit@1", "recall@10", "mrr@10")


def compare_evaluations(ours: Evaluation, theirs: Evaluation) -> tuple[Difference, ...]:
    """The differences of the figures over the queries that both runs have; positive where ``ours`` is better.

    Raises EvaluationError when they have none in common.
    """
    # A test made of a library's own documents asks something else under the same id when they have changed.
    asked = {(result.id, result.query) for result in theirs.results}
    common = {result.id for result in ours.results if (result.id, result.query) in asked}
    if not common:
        raise EvaluationError(
            "The two runs have no query in common: they are of different collections, or "
            "the documents have changed since."
        )
    mine, other = _restricted(ours, common), _restricted(theirs, common)
    return tuple(paired_bootstrap(figure, mine.values(figure), other.values(figure)) for figure in FIGURES)


def _restricted(evaluation: Evaluation, ids: set[str]) -> Evaluation:
    kept = sorted((result for result in evaluation.results if result.id in ids), key=lambda result: result.id)
    return replace(evaluation, results=tuple(kept))
