"""The forward pass of models that want a padded batch and a mask, whatever library runs them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F

from indexer.encode.batches import Batch
from indexer.encode.folder import ModelFolder
from indexer.encode.linear import dtype_of
from indexer.encode.precision import Precision

Pass = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From padded ids and their mask, both (texts, tokens)."""


class PaddedForward:
    """A model in one precision, by what the library that loaded it makes of ids and a mask.

    ``embed`` gives embeddings (texts, dimension), ``states`` the last hidden states (texts, tokens, hidden).
    """

    padded = True
    bytes_to_come = 0

    def __init__(self, folder: ModelFolder, precision: Precision, embed: Pass, states: Pass) -> None:
        self._embed, self._states = embed, states
        self._padding = int(folder.config.get("pad_token_id") or 0)
        width = folder.dimension
        inner = int(folder.config.get("intermediate_size") or 4 * width)
        self.bytes_per_token = (12 * width + 4 * inner) * torch.empty(0, dtype=dtype_of(precision)).element_size()
        """By estimate: the states, what attention and gates make of them, and the inner layer, all at once."""

    @torch.inference_mode()
    def embed(self, batch: Batch) -> torch.Tensor:
        """Unit rows, (sequences, dimension) float32, in the batch's order."""
        ids, mask = self._pad(batch)
        return F.normalize(self._embed(ids, mask).float(), dim=1)

    @torch.inference_mode()
    def states(self, batch: Batch) -> torch.Tensor:
        """The last hidden states, (tokens, hidden) float32, without those of padding."""
        ids, mask = self._pad(batch)
        return self._states(ids, mask)[mask.bool()].float()

    def _pad(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (len(batch.rows), max(run.length for run in batch.runs))
        ids, mask = np.full(shape, self._padding, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        first = 0
        for run in batch.runs:
            ids[first : first + run.count, : run.length] = batch.ids[run.start : run.end].reshape(run.count, run.length)
            mask[first : first + run.count, : run.length] = 1
            first += run.count
        return torch.from_numpy(ids), torch.from_numpy(mask)

    def release(self) -> None:
        """Nothing is kept from batch to batch."""
