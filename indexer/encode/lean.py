"""The encoder for BERT-shaped folders: batches by tokens through the lean forward pass, without padding or mask."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from indexer.datatypes import EncodedBatch
from indexer.encode.batches import Forward
from indexer.encode.batching import BatchingEncoder
from indexer.encode.folder import ModelFolder
from indexer.encode.precision import Precision
from indexer.encode.quick import QUICK_TOKENS, QuickBert, is_quick, quick_rows
from indexer.encode.tokens import TokenIds

_TYPES = ("bert", "roberta", "xlm-roberta", "camembert")
_POOLING = ("mean", "cls")


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


class LeanEncoder(BatchingEncoder):
    """Texts to unit rows with a forward pass of our own.

    A few short texts are encoded in NumPy while nothing has imported torch yet; anything more imports it.
    """

    precisions: ClassVar[tuple[Precision, ...]] = tuple(Precision)
    trusted: ClassVar[tuple[Precision, ...]] = (Precision.FLOAT32, Precision.BFLOAT16)

    def _batches(self, sequences: Sequence[TokenIds]) -> Iterator[EncodedBatch]:
        tokens = sum(map(len, sequences))
        if tokens <= QUICK_TOKENS and "torch" not in sys.modules and is_quick(self.folder):
            with self._lock:
                rows = quick_rows(self._quick_model, sequences)
            yield EncodedBatch(np.arange(len(sequences)), rows, tokens)
        else:
            yield from super()._batches(sequences)

    def _make(self, precision: Precision) -> Forward:
        from indexer.encode.bert import LeanBert

        return LeanBert(self.folder, precision)

    @cached_property
    def _quick_model(self) -> QuickBert:
        return QuickBert(self.folder)
