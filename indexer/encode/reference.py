"""The encoder for every other model folder: sentence_transformers loads and runs it, imported only then."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from indexer.encode.batches import Forward
from indexer.encode.batching import BatchingEncoder
from indexer.encode.folder import EncoderSpec, ModelFolder
from indexer.encode.precision import Precision
from indexer.errors import EncoderError
from indexer.settings import Settings

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

_MISSING = re.compile(r"^\s*(\S+)\s*\|[^|]*MISSING", re.MULTILINE)
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_UNUSED = ("pooler.", "lm_head.", "cls.predictions.")  # parts that an embedding does not pass through


class ReferenceEncoder(BatchingEncoder):
    """Texts to unit rows through sentence_transformers; what stands in the folder is run only with the flag."""

    def __init__(
        self, folder: ModelFolder, spec: EncoderSpec, settings: Settings, *, trust_remote_code: bool = False
    ) -> None:
        super().__init__(folder, spec, settings)
        self._trust_remote_code = trust_remote_code
        require_safetensors(folder)
        if folder.config.get("auto_map") and not trust_remote_code and not _is_known(folder.model_type):
            raise EncoderError(
                f"The model in {folder.path} brings its own code, which is not run unless you trust it: "
                "give --trust-remote-code, or choose another model."
            )

    def _make(self, precision: Precision) -> Forward:
        from indexer.encode.linear import dtype_of
        from indexer.encode.padded import PaddedForward

        model = self._load().to(dtype_of(precision))

        def embed(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            embeddings: torch.Tensor = model({"input_ids": ids, "attention_mask": mask})["sentence_embedding"]
            return embeddings

        def states(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            tokens: torch.Tensor = model({"input_ids": ids, "attention_mask": mask})["token_embeddings"]
            return tokens

        return PaddedForward(self.folder, precision, embed, states)

    def _load(self) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer

        try:
            with _load_report() as report:
                model = SentenceTransformer(
                    str(self.folder.path),
                    device="cpu",
                    local_files_only=True,
                    trust_remote_code=self._trust_remote_code,
                    model_kwargs={"use_safetensors": True},
                )
        except Exception as error:  # any of the libraries' own kinds: the folder cannot be loaded
            raise EncoderError(f"The model in {self.folder.path} cannot be loaded: {error}") from error
        missing = [name for name in _MISSING.findall(_STYLE.sub("", "\n".join(report))) if not _is_unused(name)]
        if missing:
            raise EncoderError(
                f"The model in {self.folder.path} does not fit its config.json: {len(missing)} weights are missing, "
                f"{missing[0]} among them. Its embeddings would be noise."
            )
        return model.eval()


def require_safetensors(folder: ModelFolder) -> None:
    """Raise EncoderError for a folder whose weights are in another format: those may hold code."""
    if not any(folder.transformer.glob("*.safetensors")):
        raise EncoderError(f"The model in {folder.path} has no .safetensors weights; other formats are not loaded.")


def _is_known(model_type: str) -> bool:
    """Whether transformers itself has this architecture, so that a folder's own code is not needed."""
    from transformers import CONFIG_MAPPING

    return model_type in CONFIG_MAPPING


def _is_unused(name: str) -> bool:
    return any(part in f"{name}." for part in _UNUSED)


class _Collector(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())


@contextmanager
def _load_report() -> Iterator[list[str]]:
    """What transformers reports while it loads: it fills missing weights with noise and only logs that it did."""
    import_module("transformers")  # sets up its logger, with its own level

    lines: list[str] = []
    logger, collector = logging.getLogger("transformers"), _Collector(lines)
    level = logger.level
    logger.addHandler(collector)
    logger.setLevel(logging.WARNING)
    try:
        yield lines
    finally:
        logger.removeHandler(collector)
        logger.setLevel(level)
