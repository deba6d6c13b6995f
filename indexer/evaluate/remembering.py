"""An encoder that keeps the embeddings of queries in a file, so that a repeated evaluation loads no model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from indexer import encode
from indexer.datatypes import EncodedBatch, Encoder, Matrix, text_hash
from indexer.settings import Settings


class RememberingEncoder:
    """Stands before an encoder that is loaded only when something new is to be encoded."""

    def __init__(self, settings: Settings, path: Path, encoder: Encoder | None = None) -> None:
        self._settings = settings
        self._path = path
        self._encoder = encoder
        self._described = encoder or encode.describe_encoder(settings.encoder, settings)
        self._queries = self._read()

    @property
    def name(self) -> str:
        return self._described.name

    @property
    def fingerprint(self) -> str:
        return self._described.fingerprint

    @property
    def dimension(self) -> int:
        return self._described.dimension

    @property
    def max_tokens(self) -> int:
        return self._loaded().max_tokens

    @property
    def query_prompt(self) -> str:
        return self._described.query_prompt

    @property
    def document_prompt(self) -> str:
        return self._described.document_prompt

    @property
    def pooling(self) -> str:
        return self._described.pooling

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._loaded().count_tokens(texts)

    def prepare(self) -> None:
        self._loaded().prepare()

    def encode_in_batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        if texts:
            yield from self._loaded().encode_in_batches(texts)

    def encode_windows(self, windows: Sequence[Sequence[str]]) -> Iterator[EncodedBatch]:
        if windows:
            yield from self._loaded().encode_windows(windows)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return self._loaded().encode_documents(texts)

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        keys = [text_hash(text).hex() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._queries}
        if missing:
            rows = self._loaded().encode_query(list(missing.values()))
            self._queries.update(zip(missing, rows, strict=True))
        return np.stack([self._queries[key] for key in keys]).astype(np.float32)

    def remember(self, texts: Sequence[str]) -> None:
        """Encode queries that are to come, together, and keep them on disk."""
        known = len(self._queries)
        if texts:
            self.encode_query(texts)
        if len(self._queries) > known:
            unfinished = self._path.with_name(f".{os.getpid()}-{self._path.name}")
            np.savez(unfinished, allow_pickle=False, **self._queries)
            unfinished.replace(self._path)

    def _read(self) -> dict[str, Matrix]:
        if not self._path.exists():
            return {}
        with np.load(self._path, allow_pickle=False) as kept:
            return {key: kept[key] for key in kept.files}

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = encode.load_encoder(self._settings.encoder, settings=self._settings)
        return self._encoder
