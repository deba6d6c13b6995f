"""Texts to token ids: the folder's own tokenizer.json, never truncating, never padding, loaded at first use."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.errors import EncoderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TokenIds = NDArray[np.int32]
"""The tokens of one text, shape (tokens,)."""

_SLICE = 512  # texts tokenised at once: bounds what the tokenizer's own records take


class TextTokenizer:
    """A tokenizer.json file; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Content tokens of each text, special tokens not counted."""
        return [len(ids) for ids in self._encode(texts, special=False)]

    def ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """The ids of each text, with the special tokens the model expects around it."""
        return list(self._encode(texts, special=True))

    def content_ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """The ids of each text without special tokens."""
        return list(self._encode(texts, special=False))

    @cached_property
    def frame(self) -> tuple[TokenIds, TokenIds]:
        """The special tokens the model expects before and behind a text."""
        encoding = self._loaded().encode("a")
        inside = [at for at, special in enumerate(encoding.special_tokens_mask) if not special]
        ids = np.array(encoding.ids, dtype=np.int32)
        return ids[: inside[0]], ids[inside[-1] + 1 :]

    def pieces(self, text: str, tokens: int) -> list[str]:
        """``text`` cut after every ``tokens`` content tokens, at token borders; put together they are the text."""
        encoding = self._loaded().encode(_clean(text), add_special_tokens=False)
        offsets = encoding.offsets  # made anew at each access
        starts = [start for start, _ in offsets[::tokens]]
        borders = [0, *starts[1:], len(text)]
        return [text[start:end] for start, end in zip(borders, borders[1:], strict=False)]

    @cached_property
    def special_tokens(self) -> int:
        """How many tokens the model's frame adds to a text."""
        return int(self._loaded().num_special_tokens_to_add(False))

    def _encode(self, texts: Sequence[str], *, special: bool) -> Iterator[TokenIds]:
        tokenizer = self._loaded()
        for start in range(0, len(texts), _SLICE):
            batch = [_clean(text) for text in texts[start : start + _SLICE]]
            for encoding in tokenizer.encode_batch_fast(batch, add_special_tokens=special):
                yield np.array(encoding.ids, dtype=np.int32)

    def _loaded(self) -> Tokenizer:
        with self._lock:
            return self._tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        if not self._path.is_file():
            raise EncoderError(f"The model folder has no tokenizer.json: {self._path} is missing.")
        try:
            tokenizer = Tokenizer.from_file(str(self._path))
        except Exception as error:  # the library raises plain Exception for a file it cannot read
            raise EncoderError(f"The encoder's file {self._path} cannot be read: {error}.") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def _clean(text: str) -> str:
    """Lone surrogates cannot be passed to the tokenizer; everything else goes as it is."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
