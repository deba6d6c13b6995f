"""What a cheaper precision saves and costs: speed, memory, cosine to float32, and search quality on a judged folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from indexer.encode import PRECISIONS, Pace, load_encoder, measure_pace
from indexer.errors import EncoderError
from indexer.evaluate import evaluate_folder
from indexer.settings import Settings

Measure = Callable[[str, str, Sequence[str]], Pace]


@dataclass(frozen=True, slots=True)
class PrecisionResult:
    """One precision beside float32; ``ndcg`` needs a folder; ``reason`` says what kept it from being measured."""

    precision: str
    tokens_per_second: float = 0.0
    loaded_mb: float = 0.0
    peak_mb: float = 0.0
    cosine_mean: float = 0.0
    cosine_least: float = 0.0
    ndcg: float | None = None
    reason: str = ""


def compare_precisions(
    encoder: str, texts: Sequence[str], settings: Settings, folder: Path | None = None, measure: Measure = measure_pace
) -> Iterator[PrecisionResult]:
    """Measure float32, bfloat16 and int8 one after the other on the same texts, each in a fresh process."""
    reference: Pace | None = None
    for precision in PRECISIONS:
        try:
            pace = measure(encoder, precision, texts)
        except EncoderError as error:
            yield PrecisionResult(precision, reason=str(error))
            continue
        reference = reference or pace
        cosines = np.sum(reference.rows * pace.rows, axis=1)
        yield PrecisionResult(
            precision,
            pace.tokens_per_second,
            pace.loaded_mb,
            pace.peak_mb,
            float(cosines.mean()),
            float(cosines.min()),
            _ndcg(encoder, precision, settings, folder) if folder else None,
        )


def _ndcg(encoder: str, precision: str, settings: Settings, folder: Path) -> float | None:
    """nDCG@10 of hybrid search with everything encoded in this precision, in a cache of its own."""
    own = replace(settings, precision=precision, cache=settings.cache / "probe" / precision, encoder=encoder)
    loaded = load_encoder(encoder, settings=replace(settings, precision=precision))
    (evaluation,) = evaluate_folder(folder, own, encoder=loaded)
    return evaluation.figures["ndcg@10"]
