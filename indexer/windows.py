"""Which chunks are encoded together: each by itself, or consecutive ones of a document in one pass (a window).

In a window every chunk's embedding is pooled from its own tokens, which have seen the chunks around it ("late
chunking", arXiv 2409.04701). Such an embedding belongs to its surroundings: so does the key it is kept by.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.datatypes import Chunk, EncodedBatch, Encoder, Matrix, Recipe, text_hash

_HALF = 8  # bytes of a key in a window that are its text's own; the others are the whole window's


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive chunks of one document that are encoded in one pass, and the keys their embeddings are kept by."""

    chunks: tuple[Chunk, ...]
    keys: tuple[bytes, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(chunk.text for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class Windowing:
    """How chunks are put together: up to ``tokens`` a window, or each by itself when that is 0."""

    tokens: int = 0

    @classmethod
    def of(cls, recipe: Recipe, encoder: Encoder) -> Windowing:
        """What a recipe asks for, as far as the encoder's own length goes."""
        return cls(min(recipe.window, encoder.max_tokens))

    def cut(self, chunks: Iterable[Chunk]) -> Iterator[Window]:
        """Every chunk in exactly one window, in order; one that is longer than a window has its own."""
        if not self.tokens:
            yield from (Window((chunk,), (text_hash(chunk.text),)) for chunk in chunks)
            return
        waiting: list[Chunk] = []
        for chunk in chunks:
            if waiting and sum(one.tokens for one in waiting) + chunk.tokens > self.tokens:
                yield _together(waiting)
                waiting = []
            waiting.append(chunk)
        if waiting:
            yield _together(waiting)

    def encode_in_batches(self, encoder: Encoder, windows: Sequence[Window]) -> Iterator[EncodedBatch]:
        """Encode windows that this one cut; the positions count the chunks of all of them, in order."""
        if self.tokens:
            return encoder.encode_windows([window.texts for window in windows])
        return encoder.encode_in_batches([text for window in windows for text in window.texts])

    def encode(self, encoder: Encoder, windows: Sequence[Window]) -> Matrix:
        """A row for each chunk of the windows, in order."""
        rows = np.empty((sum(len(window.chunks) for window in windows), encoder.dimension), dtype=np.float32)
        for batch in self.encode_in_batches(encoder, windows):
            rows[batch.positions] = batch.rows
        return rows


def window_keys(texts: Sequence[str]) -> tuple[bytes, ...]:
    """The keys of a window's chunks: half of each is its text's hash, half stands for all the window and its place."""
    hashes = [text_hash(text) for text in texts]
    whole = b"".join(hashes)
    return tuple(
        own[:_HALF] + hashlib.blake2b(whole + place.to_bytes(4, "little"), digest_size=len(own) - _HALF).digest()
        for place, own in enumerate(hashes)
    )


def is_key_of(key: bytes, text: str, *, windowed: bool) -> bool:
    """Whether an embedding kept by ``key`` was made from ``text``, whatever stood around it."""
    own = text_hash(text)
    return key[:_HALF] == own[:_HALF] if windowed else key == own


def _together(chunks: Sequence[Chunk]) -> Window:
    return Window(tuple(chunks), window_keys([chunk.text for chunk in chunks]))
