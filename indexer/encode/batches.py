"""Fills batches by tokens: sequences sorted by length, put end to end without padding, equal lengths side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.encode.tokens import TokenIds

if TYPE_CHECKING:
    import torch


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


class Forward(Protocol):
    """A model's forward pass in one precision. ``padded`` tells that it pads a batch to its longest sequence."""

    @property
    def padded(self) -> bool: ...
    @property
    def bytes_per_token(self) -> int:
        """What a batch takes in memory for each of its tokens, by calculation."""
        ...

    @property
    def bytes_to_come(self) -> int:
        """What of the model is still on disk and may come into memory."""
        ...

    def embed(self, batch: Batch) -> torch.Tensor:
        """Unit rows, (sequences, dimension) float32, in the batch's order."""
        ...

    def states(self, batch: Batch) -> torch.Tensor:
        """The last hidden states, (tokens, hidden) float32, sequences end to end as in the batch."""
        ...

    def release(self) -> None:
        """Give back what is kept from batch to batch, after one that was too large for the memory."""
        ...


class TokenBudget:
    """How many tokens a batch may have; smaller from the moment a batch turned out too large for the memory."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def halve(self) -> None:
        self.tokens = max(1, self.tokens // 2)


def fill_batches(sequences: Sequence[TokenIds], budget: TokenBudget, *, padded: bool = False) -> Iterator[Batch]:
    """Every sequence in exactly one batch, longest first, each batch within the budget or of one sequence.

    Longest first, so that whatever does not fit into memory fails at the start. ``padded``: padding counts too.
    """
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    begin, tokens = 0, 0
    for at, row in enumerate(order):
        more = int(lengths[order[begin]] if padded and at > begin else lengths[row])
        if tokens and tokens + more > budget.tokens:
            yield make_batch(sequences, order[begin:at])
            begin, tokens, more = at, 0, int(lengths[row])
        tokens += more
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
