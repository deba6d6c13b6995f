from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from indexer.encode.batches import TokenBudget, fill_batches


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 200))
def test_every_sequence_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    sequences = [np.full(length, at, dtype=np.int32) for at, length in enumerate(lengths)]
    seen: list[int] = []
    for batch in fill_batches(sequences, TokenBudget(budget)):
        assert len(batch.ids) <= budget or len(batch.rows) == 1
        assert sum(run.count * run.length for run in batch.runs) == len(batch.ids)
        assert len({run.length for run in batch.runs}) == len(batch.runs)
        rows = iter(batch.rows)
        for run in batch.runs:
            for start in range(run.start, run.end, run.length):
                row = next(rows)
                assert set(batch.ids[start : start + run.length]) == {row}
                assert batch.positions[start : start + run.length].tolist() == list(range(lengths[row]))
        seen += batch.rows.tolist()
    assert sorted(seen) == list(range(len(lengths)))
