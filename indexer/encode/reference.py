"""The encoder for every other model folder: sentence_transformers loads and runs it, imported only then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
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
    from sentence_transformers import SentenceTransformer

_BATCH_TOKENS = 4096


class ReferenceEncoder(FolderEncoder):
    """Texts to unit rows through sentence_transformers; what stands in the folder is run only with the flag."""

    def __init__(
        self, folder: ModelFolder, spec: EncoderSpec, settings: Settings, *, trust_remote_code: bool = False
    ) -> None:
        super().__init__(folder, spec)
        self._trust_remote_code = trust_remote_code
        self._settings = settings
        if settings.precision not in ("auto", Precision.FLOAT32, Precision.BFLOAT16):
            raise EncoderError(
                f"The model in {folder.path} cannot be encoded in {settings.precision}: use float32 or bfloat16."
            )
        if folder.config.get("auto_map") and not trust_remote_code:
            raise EncoderError(
                f"The model in {folder.path} brings its own code, which is not run unless you trust it: "
                "give --trust-remote-code, or choose another model."
            )
        if not any(folder.transformer.glob("*.safetensors")):
            raise EncoderError(f"The model in {folder.path} has no .safetensors weights; other formats are not loaded.")

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
            features = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
            embeddings = self._model.forward(features)["sentence_embedding"].float()
            rows: Matrix = torch.nn.functional.normalize(embeddings, dim=1).numpy()
        return rows

    @cached_property
    def _model(self) -> SentenceTransformer:
        import torch
        from sentence_transformers import SentenceTransformer

        try:
            model = SentenceTransformer(
                str(self.folder.path),
                device="cpu",
                local_files_only=True,
                trust_remote_code=self._trust_remote_code,
                model_kwargs={"use_safetensors": True},
            )
        except Exception as error:  # any of the libraries' own kinds: the folder cannot be loaded
            raise EncoderError(f"The model in {self.folder.path} cannot be loaded: {error}") from error
        return model.eval().to(torch.bfloat16 if self._settings.precision == Precision.BFLOAT16 else torch.float32)
