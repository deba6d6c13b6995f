"""What every encoder does with batches: filled by tokens, within the memory, as measured best, halved if need be."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from indexer.datatypes import EncodedBatch, Matrix
from indexer.encode.base import FolderEncoder
from indexer.encode.batches import Batch, Forward, TokenBudget, fill_batches, make_batch
from indexer.encode.folder import EncoderSpec, ModelFolder
from indexer.encode.precision import Precision
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
from indexer.encode.windows import FramedWindow, pool_windows
from indexer.errors import EncoderError
from indexer.machine import give_back_memory, keep_large_blocks_apart
from indexer.settings import Settings

RowsOf = Callable[[Forward, Batch], Matrix]
"""From a forward pass and a batch to unit rows (rows, dimension), in the order of the batch's sequences."""

_WORTH_MEASURING = 32_768  # tokens in one call: encoding them takes longer than measuring
_ALONE = 48
"""Tokens up to which one thread encodes a batch: reading the weights takes the time, which a second one shortens by a
tenth; and where another program has its processor, waiting for it at every layer makes a query ten times slower."""
_NO_MEMORY = ("can't allocate memory", "bad_alloc", "not enough memory", "out of memory")


class BatchingEncoder(FolderEncoder):
    """Texts to unit rows, batch by batch through a forward pass in the precision that suits this machine.

    The first large call measures for some seconds how this machine works best, unless that is known already.
    """

    precisions: ClassVar[tuple[Precision, ...]] = (Precision.FLOAT32, Precision.BFLOAT16)
    """What the forward pass can work in; float32 comes first."""
    trusted: ClassVar[tuple[Precision, ...]] = (Precision.FLOAT32,)
    """Those of them that are known to agree with float32 before it was measured with this model."""

    def __init__(self, folder: ModelFolder, spec: EncoderSpec, settings: Settings) -> None:
        super().__init__(folder, spec)
        self._settings = settings
        self._budget: TokenBudget | None = None
        self._forwards: dict[Precision, Forward] = {}
        self._measured_here = False

    def tuning(self) -> Tuning:
        """How this encoder works here; does not measure and does not import torch."""
        return choose_tuning(self._settings, read_calibration(self.spec, self._settings), self.trusted)

    def calibrate(self) -> Calibration:
        """Measure anew how this machine works best, keep it and work so from now on."""
        from indexer.encode.calibrate import Calibrator

        with self._lock:
            self._forwards.clear()
            room = memory_room(self._settings)  # a cheaper precision is measured beside float32
            affordable = self.precisions if self.folder.weight_bytes < room else self.precisions[:1]
            calibration = Calibrator(self.folder, self._make, affordable).run(self.spec)
            write_calibration(calibration, self.spec, self._settings)
            self._budget, self._measured_here = None, True
        return calibration

    def prepare(self) -> None:
        with self._lock:
            self._budget_for(self.tuning())

    def _batches(self, sequences: Sequence[TokenIds]) -> Iterator[EncodedBatch]:
        for batch, rows in self._passes(sequences, _embeddings):
            yield EncodedBatch(batch.rows, rows, len(batch.ids))

    def _window_batches(self, windows: Sequence[FramedWindow], pooling: str) -> Iterator[EncodedBatch]:
        def pooled(forward: Forward, batch: Batch) -> Matrix:
            return pool_windows([windows[row] for row in batch.rows], forward.states(batch).numpy(), pooling)

        for batch, rows in self._passes([window.ids for window in windows], pooled):
            positions = np.concatenate([windows[row].positions for row in batch.rows])
            yield EncodedBatch(positions, rows, len(batch.ids))

    def _passes(self, sequences: Sequence[TokenIds], rows_of: RowsOf) -> Iterator[tuple[Batch, Matrix]]:
        """Every sequence in a batch, and what ``rows_of`` makes of the batch."""
        tokens = sum(map(len, sequences))
        if tokens >= _WORTH_MEASURING and self._unmeasured():
            self.calibrate()
        tuning = self.tuning()
        with self._lock:
            budget, padded = self._budget_for(tuning), self._forward(tuning.precision).padded
        for batch in fill_batches(sequences, budget, padded=padded):
            with self._lock:
                rows = self._rows(batch, sequences, tuning, rows_of)
            yield batch, rows
        if tokens >= _WORTH_MEASURING:
            give_back_memory()  # batches differ in shape: what one leaves behind does not fit the next

    def _rows(self, batch: Batch, sequences: Sequence[TokenIds], tuning: Tuning, rows_of: RowsOf) -> Matrix:
        """A batch's rows; one that is too large for the memory is halved, and so are all that follow."""
        import torch

        threads = 1 if len(batch.ids) <= _ALONE else tuning.threads
        if torch.get_num_threads() != threads:  # counts for the calling thread alone
            torch.set_num_threads(threads)
        forward = self._forward(tuning.precision)
        try:
            return rows_of(forward, batch)
        except (MemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            forward.release()
            if len(batch.rows) == 1:
                raise EncoderError(
                    f"There is not enough memory to encode a text of {len(batch.ids)} tokens: close other programs, "
                    "or choose smaller chunks."
                ) from error
        self._budget_for(tuning).halve()
        middle = len(batch.rows) // 2
        halves = (make_batch(sequences, rows) for rows in (batch.rows[:middle], batch.rows[middle:]))
        return np.concatenate([self._rows(half, sequences, tuning, rows_of) for half in halves])

    def _budget_for(self, tuning: Tuning) -> TokenBudget:
        """The tokens of a batch, as measured or set, cut to the memory there is when encoding begins."""
        if self._budget is None:
            forward = self._forward(tuning.precision)
            calibration = read_calibration(self.spec, self._settings)
            each = max(forward.bytes_per_token, calibration.bytes_per_token if calibration else 0)
            room = memory_room(self._settings) - forward.bytes_to_come
            self._budget = TokenBudget(fitting_tokens(tuning.batch_tokens, room, each))
        return self._budget

    def _unmeasured(self) -> bool:
        settings = self._settings
        if self._measured_here or (settings.precision != "auto" and settings.threads and settings.batch_tokens):
            return False  # nothing is left to be chosen
        calibration = read_calibration(self.spec, settings)
        return calibration is None or calibration.disturbed

    def _forward(self, precision: Precision) -> Forward:
        if precision not in self.precisions:
            known = ", ".join(self.precisions)
            raise EncoderError(f"The model in {self.folder.path} cannot be encoded in {precision}: use {known}.")
        if precision not in self._forwards:
            keep_large_blocks_apart()
            self._forwards = {precision: self._make(precision)}
        return self._forwards[precision]

    @abstractmethod
    def _make(self, precision: Precision) -> Forward:
        """Load the model's forward pass in a precision."""


def _embeddings(forward: Forward, batch: Batch) -> Matrix:
    return np.asarray(forward.embed(batch).numpy(), dtype=np.float32)


def _is_out_of_memory(error: Exception) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in text for sign in _NO_MEMORY)
