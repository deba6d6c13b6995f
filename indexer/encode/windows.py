"""Chunks that share a pass of the encoder: one sequence for all of them, each row pooled from its chunk's own tokens.

"Late chunking" (arXiv 2409.04701). Every chunk is tokenised by itself, so that its tokens are the ones it was measured
by, and its range in the window is known exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Matrix
from indexer.encode.folder import ModelFolder
from indexer.encode.tokens import TextTokenizer, TokenIds
from indexer.errors import EncoderError

_POOLING = ("mean", "max")


@dataclass(frozen=True, slots=True)
class FramedWindow:
    """The tokens of a window, prompt and special tokens included; chunk ``i`` is at ``borders[i]:borders[i + 1]``.

    ``first`` is the place of its first chunk among the chunks of all windows.
    """

    first: int
    ids: TokenIds
    borders: NDArray[np.int64]

    @property
    def positions(self) -> NDArray[np.int64]:
        return np.arange(self.first, self.first + len(self.borders) - 1)


def check_pooling(folder: ModelFolder) -> str:
    """How a row is pooled from a chunk's tokens. Raises EncoderError for a model to which that cannot be applied."""
    if folder.plain and folder.pooling in _POOLING:
        return folder.pooling
    how = folder.pooling if folder.plain else " and ".join(folder.modules)
    raise EncoderError(
        f"The model in {folder.path} makes its embedding by {how}, so chunks cannot share a pass: leave --window out, "
        "or choose an encoder with mean pooling."
    )


def frame_windows(tokenizer: TextTokenizer, prompt: str, windows: Sequence[Sequence[str]]) -> list[FramedWindow]:
    """Special tokens, prompt, the chunks one after the other, special tokens: a sequence for each window."""
    before, behind = tokenizer.frame
    head = np.concatenate([before, *tokenizer.content_ids([prompt.rstrip()])])
    chunks = iter(tokenizer.content_ids([text for window in windows for text in window]))
    framed, first = [], 0
    for window in windows:
        ids = [next(chunks) for _ in window]
        borders = len(head) + np.cumsum([0, *map(len, ids)])
        framed.append(FramedWindow(first, np.concatenate([head, *ids, behind]), borders))
        first += len(ids)
    return framed


def pool_windows(windows: Sequence[FramedWindow], states: Matrix, pooling: str) -> Matrix:
    """Unit rows of the chunks of windows, in order, from the states (tokens, hidden) of their tokens end to end."""
    ends = np.cumsum([len(window.ids) for window in windows])
    rows = np.concatenate(
        [_pool(window, states[end - len(window.ids) : end], pooling) for window, end in zip(windows, ends, strict=True)]
    )
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _pool(window: FramedWindow, states: Matrix, pooling: str) -> Matrix:
    pairs = zip(window.borders.tolist(), window.borders[1:].tolist(), strict=False)
    # a chunk without any token (odd white space alone) has the state of the token before it
    parts = [states[start:end] if end > start else states[max(start - 1, 0) :][:1] for start, end in pairs]
    pooled: Matrix = np.stack([part.mean(0) if pooling == "mean" else part.max(0) for part in parts])
    return pooled
