"""What every encoder of a model folder shares: its description, its tokens, prompts, and long queries."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from indexer.datatypes import EncodedBatch, Matrix
from indexer.encode.folder import EncoderSpec, ModelFolder
from indexer.encode.tokens import TextTokenizer, TokenIds
from indexer.encode.windows import FramedWindow, check_pooling, frame_windows
from indexer.errors import EncoderError


class FolderEncoder(ABC):
    """Texts to unit rows after a model folder. Calls from several threads are safe and wait for each other."""

    def __init__(self, folder: ModelFolder, spec: EncoderSpec) -> None:
        self.folder = folder
        self.spec = spec
        self._lock = threading.Lock()
        self._tokenizer = TextTokenizer(folder.transformer / "tokenizer.json")

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def fingerprint(self) -> str:
        return self.spec.fingerprint

    @property
    def dimension(self) -> int:
        return self.spec.dimension

    @property
    def query_prompt(self) -> str:
        return self.spec.query_prompt

    @property
    def document_prompt(self) -> str:
        return self.spec.document_prompt

    @property
    def pooling(self) -> str:
        return self.spec.pooling

    @cached_property
    def max_tokens(self) -> int:
        """Content tokens that fit beside the special tokens and the longer prompt, one kept for how they join."""
        prompts = max(self._tokenizer.count([self.query_prompt, self.document_prompt]))
        return self.folder.max_length - self._tokenizer.special_tokens - prompts - (1 if prompts else 0)

    @abstractmethod
    def prepare(self) -> None:
        """Load what encoding needs, so that the first batch takes no longer than those that follow."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Content tokens of each text, without prompt and special tokens; does not import torch."""
        return self._tokenizer.count(texts)

    def encode_in_batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Documents' texts, each batch handed out once it is done, longest texts first.

        Raises EncoderError before the first batch when a text is longer than ``max_tokens``.
        """
        return self._checked_batches(self._tokenizer.ids([self.document_prompt + text for text in texts]))

    def encode_windows(self, windows: Sequence[Sequence[str]]) -> Iterator[EncodedBatch]:
        """Chunks that share a pass, each row pooled from its own tokens; positions count the chunks of all windows.

        Raises EncoderError before the first batch when the model's pooling cannot be done chunk by chunk, or a window
        is longer than the encoder takes.
        """
        pooling = check_pooling(self.folder)
        framed = frame_windows(self._tokenizer, self.document_prompt, windows)
        if (longest := max((len(window.ids) for window in framed), default=0)) > self.folder.max_length:
            raise self._too_long(longest)
        return self._window_batches(framed, pooling)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Rows (texts, dimension) in the order of the texts; raises as ``encode_in_batches`` does."""
        return self._collect(len(texts), self.encode_in_batches(texts))

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """Rows (texts, dimension). A query longer than a window is encoded piece by piece and averaged by tokens."""
        owners: list[int] = []
        pieces: list[str] = []
        for owner, (text, count) in enumerate(zip(texts, self._tokenizer.count(texts), strict=True)):
            cut = [text] if count <= self.max_tokens else self._tokenizer.pieces(text, self.max_tokens)
            owners += [owner] * len(cut)
            pieces += cut
        sequences = self._tokenizer.ids([self.query_prompt + piece for piece in pieces])
        weights = np.array([len(sequence) for sequence in sequences], dtype=np.float32)
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        np.add.at(sums, owners, weights[:, None] * self._collect(len(pieces), self._checked_batches(sequences)))
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), dtype=np.float32)

    def _checked_batches(self, sequences: Sequence[TokenIds]) -> Iterator[EncodedBatch]:
        longest = max(map(len, sequences), default=0)
        if longest > self.folder.max_length:
            raise self._too_long(longest)
        return self._batches(sequences)

    def _too_long(self, tokens: int) -> EncoderError:
        return EncoderError(
            f"A text of {tokens} tokens does not fit into the encoder's {self.folder.max_length}; "
            "cut it into smaller chunks."
        )

    def _collect(self, count: int, batches: Iterator[EncodedBatch]) -> Matrix:
        rows = np.empty((count, self.dimension), dtype=np.float32)
        for batch in batches:
            rows[batch.positions] = batch.rows
        return rows

    @abstractmethod
    def _batches(self, sequences: Sequence[TokenIds]) -> Iterator[EncodedBatch]:
        """Unit rows of token sequences, all within the length limit, batch by batch.

        Whatever is not safe in several threads at once is done under ``self._lock``, taken for one batch at a time.
        """

    @abstractmethod
    def _window_batches(self, windows: Sequence[FramedWindow], pooling: str) -> Iterator[EncodedBatch]:
        """Unit rows of the chunks of windows, all within the length limit, batch by batch; as ``_batches`` does."""
