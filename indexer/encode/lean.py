"""The encoder for BERT-shaped folders: batches by tokens through the lean forward pass."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from indexer.datatypes import EncodedBatch
from indexer.encode.base import FolderEncoder
from indexer.encode.batches import fill_batches
from indexer.encode.folder import ModelFolder
from indexer.encode.quick import QUICK_TOKENS, QuickBert, is_quick, quick_rows
from indexer.encode.tokens import TokenIds

if TYPE_CHECKING:
    from indexer.encode.bert import LeanBert

_TYPES = ("bert", "roberta", "xlm-roberta", "camembert")
_POOLING = ("mean", "cls")
_BATCH_TOKENS = 4096


def is_lean(folder: ModelFolder) -> bool:
    """Whether the lean forward pass computes exactly what the folder's model would."""
    config = folder.config
    return (
        folder.plain
        and folder.model_type in _TYPES
        and folder.pooling in _POOLING
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and (folder.transformer / "model.safetensors").is_file()
        and (folder.transformer / "tokenizer.json").is_file()
    )


class LeanEncoder(FolderEncoder):
    """Texts to unit rows with a forward pass of our own.

    A few short texts are encoded in NumPy while nothing has imported torch yet; anything more imports it.
    """

    def _batches(self, sequences: Sequence[TokenIds]) -> Iterator[EncodedBatch]:
        if self._is_quick(sequences):
            with self._lock:
                rows = quick_rows(self._quick_model, sequences)
            yield EncodedBatch(np.arange(len(sequences)), rows, sum(map(len, sequences)))
            return
        for batch in fill_batches(sequences, _BATCH_TOKENS):
            with self._lock:
                rows = self._model.embed(batch).numpy()
            yield EncodedBatch(batch.rows, rows, len(batch.ids))

    def _is_quick(self, sequences: Sequence[TokenIds]) -> bool:
        return "torch" not in sys.modules and sum(map(len, sequences)) <= QUICK_TOKENS and is_quick(self.folder)

    @cached_property
    def _quick_model(self) -> QuickBert:
        return QuickBert(self.folder)

    @cached_property
    def _model(self) -> LeanBert:
        from indexer.encode.bert import LeanBert

        return LeanBert(self.folder)
