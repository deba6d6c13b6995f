"""The lean forward pass once more, in NumPy, for a few short texts: a first search need not wait for torch.

Importing torch takes seconds, a query's dozen tokens take hundredths. Held equal to the torch pass by a test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from threadpoolctl import threadpool_limits

from indexer.datatypes import Matrix
from indexer.encode.folder import ModelFolder, first_position, weights_prefix
from indexer.encode.tokens import TokenIds
from indexer.errors import EncoderError

QUICK_TOKENS = 64  # above this, torch is worth its start

Array = NDArray[np.float32]

_READABLE = ("F32", "F16", "I64")
_erf = np.frompyfunc(math.erf, 1, 1)


class QuickBert:
    """The weights in NumPy; of the word table only the rows that are asked for are read."""

    def __init__(self, folder: ModelFolder) -> None:
        path = folder.transformer / "model.safetensors"
        config = folder.config
        self._heads = int(config["num_attention_heads"])
        self._eps = float(config.get("layer_norm_eps", 1e-12))
        self._first_position = first_position(config)
        self._mean = folder.pooling == "mean"
        try:
            opened: Any = safe_open(path, framework="np")  # the package types it loosely
            self._file = opened
            names = set(opened.keys())
            self._prefix = weights_prefix(names)
            positions, types = (
                self._get("embeddings.position_embeddings"),
                self._get("embeddings.token_type_embeddings"),
            )
            self._positions = positions + types[0]
            self._weights = {
                name: self._tensor(name) for name in names if name.startswith(f"{self._prefix}encoder.layer.")
            }
            self._layers = int(config["num_hidden_layers"])
        except (SafetensorError, OSError, KeyError) as error:
            raise EncoderError(f"The encoder's file {path} cannot be read: {error}.") from error

    def embed(self, sequence: TokenIds) -> Array:
        """The unit row of one sequence, (hidden,)."""
        states = self._states(sequence)
        row = states.mean(0) if self._mean else states[0]
        return np.asarray(row / np.linalg.norm(row), dtype=np.float32)

    def _states(self, sequence: TokenIds) -> Array:
        words = self._file.get_slice(f"{self._prefix}embeddings.word_embeddings.weight")
        rows = np.concatenate([words[int(token) : int(token) + 1] for token in sequence]).astype(np.float32)
        first = self._first_position
        x = rows + self._positions[first : first + len(sequence)]
        x = self._normalize(x, self._get("embeddings.LayerNorm"), self._get("embeddings.LayerNorm", "bias"))
        for at in range(self._layers):
            x = self._layer(x, f"encoder.layer.{at}.")
        return x

    def _layer(self, x: Array, layer: str) -> Array:
        query, key, value = (self._linear(x, f"{layer}attention.self.{part}") for part in ("query", "key", "value"))
        attended = _attend(query, key, value, self._heads)
        x = self._residual(x, self._linear(attended, f"{layer}attention.output.dense"), f"{layer}attention.output")
        inner = _gelu(self._linear(x, f"{layer}intermediate.dense"))
        return self._residual(x, self._linear(inner, f"{layer}output.dense"), f"{layer}output")

    def _linear(self, x: Array, name: str) -> Array:
        weight, bias = self._weights[f"{self._prefix}{name}.weight"], self._weights[f"{self._prefix}{name}.bias"]
        return np.asarray(x @ weight.T + bias, dtype=np.float32)

    def _residual(self, x: Array, change: Array, name: str) -> Array:
        norm = f"{self._prefix}{name}.LayerNorm"
        return self._normalize(x + change, self._weights[f"{norm}.weight"], self._weights[f"{norm}.bias"])

    def _normalize(self, x: Array, weight: Array, bias: Array) -> Array:
        centred = x - x.mean(1, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(1, keepdims=True) + self._eps)
        return np.asarray(centred / deviation * weight + bias, dtype=np.float32)

    def _get(self, name: str, kind: str = "weight") -> Array:
        return self._tensor(f"{self._prefix}{name}.{kind}")

    def _tensor(self, name: str) -> Array:
        return np.asarray(self._file.get_tensor(name), dtype=np.float32)


def is_quick(folder: ModelFolder) -> bool:
    """Whether NumPy can read the folder's weights (it has no bfloat16)."""
    opened: Any = safe_open(folder.transformer / "model.safetensors", framework="np")  # the package types it loosely
    with opened as file:
        return all(file.get_slice(name).get_dtype() in _READABLE for name in list(file.keys()))


def _attend(query: Array, key: Array, value: Array, heads: int) -> Array:
    tokens, width = query.shape

    def split(x: Array) -> Array:  # a view, shape (heads, tokens, width / heads)
        return x.reshape(tokens, heads, -1).transpose(1, 0, 2)

    scores = split(query) @ split(key).transpose(0, 2, 1) / math.sqrt(width / heads)
    weights = np.exp(scores - scores.max(2, keepdims=True))
    weights /= weights.sum(2, keepdims=True)
    return np.asarray((weights @ split(value)).transpose(1, 0, 2).reshape(tokens, width), dtype=np.float32)


def _gelu(x: Array) -> Array:
    erf = _erf(x * math.sqrt(0.5)).astype(np.float32)
    return np.asarray(0.5 * x * (1 + erf), dtype=np.float32)


def quick_rows(model: QuickBert, sequences: Sequence[TokenIds]) -> Matrix:
    """Unit rows of a few sequences, in order."""
    with threadpool_limits(1, user_api="blas"):  # products this small are slower when threads share them
        return np.stack([model.embed(sequence) for sequence in sequences])
