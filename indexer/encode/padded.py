"""What encoders over a padded batch share: sorting by length, padding with a mask, threads and precision."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from indexer.datatypes import EncodedBatch, Matrix
from indexer.encode.base import FolderEncoder
from indexer.encode.folder import EncoderSpec, ModelFolder
from indexer.encode.precision import Precision
from indexer.encode.tokens import TokenIds
from indexer.errors import EncoderError
from indexer.settings import Settings

if TYPE_CHECKING:
    import torch

_BATCH_TOKENS = 4096


class PaddedEncoder(FolderEncoder):
    """Texts to unit rows, batches sorted by length and padded to their longest text.

    Works in float32 unless the person's settings say bfloat16: only the lean encoder measures what is best.
    """

    def __init__(self, folder: ModelFolder, spec: EncoderSpec, settings: Settings) -> None:
        super().__init__(folder, spec)
        self._settings = settings
        if settings.precision not in ("auto", Precision.FLOAT32, Precision.BFLOAT16):
            raise EncoderError(
                f"The model in {folder.path} cannot be encoded in {settings.precision}: use float32 or bfloat16."
            )
        if not any(folder.transformer.glob("*.safetensors")):
            raise EncoderError(f"The model in {folder.path} has no .safetensors weights; other formats are not loaded.")

    @property
    def dtype(self) -> torch.dtype:
        import torch

        return torch.bfloat16 if self._settings.precision == Precision.BFLOAT16 else torch.float32

    def _batches(self, sequences: Sequence[TokenIds]) -> Iterator[EncodedBatch]:
        order = sorted(range(len(sequences)), key=lambda row: -len(sequences[row]))
        while order:
            count = max(1, (self._settings.batch_tokens or _BATCH_TOKENS) // len(sequences[order[0]]))
            batch, order = order[:count], order[count:]
            with self._lock:
                rows = self._embed([sequences[row] for row in batch])
            yield EncodedBatch(np.array(batch, dtype=np.int64), rows, sum(len(sequences[row]) for row in batch))

    def _embed(self, sequences: Sequence[TokenIds]) -> Matrix:
        import torch

        if self._settings.threads and torch.get_num_threads() != self._settings.threads:
            torch.set_num_threads(self._settings.threads)
        longest = max(map(len, sequences))
        ids = np.full((len(sequences), longest), int(self.folder.config.get("pad_token_id") or 0), dtype=np.int64)
        mask = np.zeros((len(sequences), longest), dtype=np.int64)
        for at, sequence in enumerate(sequences):
            ids[at, : len(sequence)] = sequence
            mask[at, : len(sequence)] = 1
        with torch.inference_mode():
            embeddings = self._forward(torch.from_numpy(ids), torch.from_numpy(mask)).float()
            rows: Matrix = torch.nn.functional.normalize(embeddings, dim=1).numpy()
        return rows

    @abstractmethod
    def _forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Embeddings (texts, dimension) of padded ids and their mask, both (texts, tokens)."""
