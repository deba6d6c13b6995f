from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from indexer.encode import Pace
from indexer.errors import EncoderError
from indexer.probe.precision import compare_precisions
from indexer.settings import Settings

ROWS = np.eye(3, 4, dtype=np.float32)


def measure(_encoder: str, precision: str, texts: Sequence[str]) -> Pace:
    if precision == "int8":
        raise EncoderError("not on this machine")
    rows = ROWS if precision == "float32" else np.roll(ROWS, 1, axis=1) * 0.0 + ROWS * np.float32(0.99)
    return Pace(precision, 300, 2.0 if precision == "float32" else 1.0, 500.0, 100.0, rows)


def test_every_precision_stands_beside_float32_and_one_that_fails_has_its_reason() -> None:
    settings = Settings(library=Path("library"), cache=Path("cache"))
    first, second, third = compare_precisions("e5-small", ["a", "b", "c"], settings, measure=measure)
    assert (first.precision, first.tokens_per_second, first.cosine_least) == ("float32", 150.0, 1.0)
    assert second.tokens_per_second == 300.0
    assert abs(second.cosine_mean - 0.99) < 1e-6
    assert second.ndcg is None
    assert third.reason == "not on this machine"
