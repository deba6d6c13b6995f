"""A deterministic encoder for tests: no model, no torch, equal texts to equal rows, shared words to near rows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

import numpy as np

from indexer.datatypes import EncodedBatch, Matrix

_TOKEN = re.compile(r"[぀-ヿ㐀-鿿가-힯]|[^\W_]+|[^\w\s]")


class FakeEncoder:
    """Hashed bag of words and CJK characters; a token is a word, a CJK character or a mark of punctuation."""

    name = "fake"
    fingerprint = "fa" * 32
    max_tokens = 508
    query_prompt = ""
    document_prompt = ""
    pooling = "mean"

    def __init__(self, dimension: int = 64, batch: int = 8) -> None:
        self.dimension = dimension
        self.batch = batch
        self.encoded: list[str] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_TOKEN.findall(text)) for text in texts]

    def prepare(self) -> None:
        """Nothing is to be loaded."""

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        self.encoded.extend(texts)
        return self._rows(texts)

    def encode_in_batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        by_length = np.argsort([len(text) for text in texts], kind="stable")
        for start in range(0, len(texts), self.batch):
            positions = np.asarray(by_length[start : start + self.batch], dtype=np.int64)
            batch = [texts[position] for position in positions]
            yield EncodedBatch(positions, self.encode_documents(batch), sum(self.count_tokens(batch)))

    def encode_windows(self, windows: Sequence[Sequence[str]]) -> Iterator[EncodedBatch]:
        """Each chunk's row leans towards the row of its whole window; a window a batch, the last one first."""
        first = sum(map(len, windows))
        for window in reversed(windows):
            first -= len(window)
            rows = self.encode_documents(window) + self._rows(["".join(window)]) / 4
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            yield EncodedBatch(np.arange(first, first + len(window)), rows, sum(self.count_tokens(window)))

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        return self._rows(texts)

    def _rows(self, texts: Sequence[str]) -> Matrix:
        rows = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for token in _TOKEN.findall(text.casefold()):
                digest = hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest()
                row[int.from_bytes(digest[:4], "little") % self.dimension] += 1 if digest[4] & 1 else -1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
