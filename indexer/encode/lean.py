"""The encoder for BERT-shaped folders: batches by tokens through the lean forward pass."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from indexer.datatypes import EncodedBatch, Matrix
from indexer.encode.base import FolderEncoder
from indexer.encode.batches import Batch, TokenBudget, fill_batches, make_batch
from indexer.encode.folder import EncoderSpec, ModelFolder
from indexer.encode.precision import Precision
from indexer.encode.quick import QUICK_TOKENS, QuickBert, is_quick, quick_rows
from indexer.encode.tokens import TokenIds
from indexer.encode.tuning import (
    Calibration,
    Tuning,
    choose_tuning,
    fitting_tokens,
    memory_room,
    read_calibration,
    write_calibration,
)
from indexer.errors import EncoderError
from indexer.settings import Settings

if TYPE_CHECKING:
    from indexer.encode.bert import LeanBert

_TYPES = ("bert", "roberta", "xlm-roberta", "camembert")
_POOLING = ("mean", "cls")
_WORTH_MEASURING = 32_768  # tokens: encoding them takes longer than measuring
_NO_MEMORY = ("can't allocate memory", "bad_alloc", "not enough memory", "out of memory")


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

    A few short texts are encoded in NumPy while nothing has imported torch yet; anything more imports it. The first
    large call measures for some seconds how this machine works best, unless that is known already.
    """

    def __init__(self, folder: ModelFolder, spec: EncoderSpec, settings: Settings) -> None:
        super().__init__(folder, spec)
        self._settings = settings
        self._budget: TokenBudget | None = None
        self._models: dict[Precision, LeanBert] = {}

    def tuning(self) -> Tuning:
        """How this encoder works here; does not measure and does not import torch."""
        return choose_tuning(self._settings, read_calibration(self.spec, self._settings))

    def calibrate(self) -> Calibration:
        """Measure anew how this machine works best, keep it and work so from now on."""
        from indexer.encode.calibrate import Calibrator

        with self._lock:
            calibration = Calibrator(self.folder).run(self.spec)
            write_calibration(calibration, self.spec, self._settings)
            self._budget = None
        return calibration

    def _batches(self, sequences: Sequence[TokenIds]) -> Iterator[EncodedBatch]:
        tokens = sum(map(len, sequences))
        if tokens <= QUICK_TOKENS and "torch" not in sys.modules and is_quick(self.folder):
            with self._lock:
                rows = quick_rows(self._quick_model, sequences)
            yield EncodedBatch(np.arange(len(sequences)), rows, tokens)
            return
        if tokens >= _WORTH_MEASURING and self._unmeasured():
            self.calibrate()
        tuning = self.tuning()
        for batch in fill_batches(sequences, self._budget_for(tuning)):
            with self._lock:
                rows = self._rows(batch, sequences, tuning)
            yield EncodedBatch(batch.rows, rows, len(batch.ids))

    def _rows(self, batch: Batch, sequences: Sequence[TokenIds], tuning: Tuning) -> Matrix:
        """A batch's rows; one that is too large for the memory is halved, and so are all that follow."""
        import torch

        if torch.get_num_threads() != tuning.threads:  # counts for the calling thread alone
            torch.set_num_threads(tuning.threads)
        model = self._model(tuning.precision)
        try:
            return np.asarray(model.embed(batch).numpy(), dtype=np.float32)
        except (MemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            model.release()
            if len(batch.rows) == 1:
                raise EncoderError(
                    f"There is not enough memory to encode a text of {len(batch.ids)} tokens: close other programs, "
                    "or choose smaller chunks."
                ) from error
        self._budget_for(tuning).halve()
        middle = len(batch.rows) // 2
        halves = (make_batch(sequences, rows) for rows in (batch.rows[:middle], batch.rows[middle:]))
        return np.concatenate([self._rows(half, sequences, tuning) for half in halves])

    def _budget_for(self, tuning: Tuning) -> TokenBudget:
        """The tokens of a batch, as measured or set, cut to the memory there is when encoding begins."""
        if self._budget is None:
            model = self._model(tuning.precision)
            calibration = read_calibration(self.spec, self._settings)
            each = max(model.bytes_per_token, calibration.bytes_per_token if calibration else 0)
            room = memory_room(self._settings) - model.mapped_bytes
            self._budget = TokenBudget(fitting_tokens(tuning.batch_tokens, room, each))
        return self._budget

    def _unmeasured(self) -> bool:
        settings = self._settings
        open_ends = settings.precision == "auto" or not settings.threads or not settings.batch_tokens
        return open_ends and read_calibration(self.spec, settings) is None

    def _model(self, precision: Precision) -> LeanBert:
        from indexer.encode.bert import LeanBert

        if precision not in self._models:
            self._models = {precision: LeanBert(self.folder, precision)}
        return self._models[precision]

    @cached_property
    def _quick_model(self) -> QuickBert:
        return QuickBert(self.folder)


def _is_out_of_memory(error: Exception) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in text for sign in _NO_MEMORY)
