"""Fills batches by tokens: sequences sorted by length, put end to end without padding, equal lengths side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.encode.tokens import TokenIds


@dataclass(frozen=True, slots=True)
class Run:
    """Sequences of one length that stand next to each other in a batch: ``count`` of ``length`` tokens each."""

    start: int
    count: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.count * self.length


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences put end to end: no token is padding, and attention stays inside each sequence without any mask.

    ``rows`` (sequences,) says which text each sequence was; ``ids`` and ``positions`` are (tokens,).
    """

    rows: NDArray[np.int64]
    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    runs: tuple[Run, ...]


class TokenBudget:
    """How many tokens a batch may have; smaller from the moment a batch turned out too large for the memory."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def halve(self) -> None:
        self.tokens = max(1, self.tokens // 2)


def fill_batches(sequences: Sequence[TokenIds], budget: TokenBudget) -> Iterator[Batch]:
    """Every sequence in exactly one batch, longest first, each batch within the budget or of one sequence.

    Longest first, so that whatever does not fit into memory fails at the start.
    """
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    begin, tokens = 0, 0
    for at, row in enumerate(order):
        if tokens and tokens + lengths[row] > budget.tokens:
            yield make_batch(sequences, order[begin:at])
            begin, tokens = at, 0
        tokens += int(lengths[row])
    if begin < len(order):
        yield make_batch(sequences, order[begin:])


def make_batch(sequences: Sequence[TokenIds], rows: NDArray[np.int64]) -> Batch:
    """The batch of ``sequences[row]`` for each row, in the order given."""
    lengths = [len(sequences[row]) for row in rows]
    runs: list[Run] = []
    start = 0
    for length in lengths:
        if runs and runs[-1].length == length:
            runs[-1] = Run(runs[-1].start, runs[-1].count + 1, length)
        else:
            runs.append(Run(start, 1, length))
        start += length
    ids = np.concatenate([sequences[row] for row in rows]).astype(np.int64)
    positions = np.concatenate([np.arange(length) for length in lengths])
    return Batch(rows, ids, positions, tuple(runs))
