"""A lean forward pass for BERT and XLM-RoBERTa: fused query-key-value projection, no padding, no mask, no gradients.

Held equal to transformers' own model by a test. A batch is a row of sequences end to end (batches.py): everything but
attention works on all its tokens at once; attention works on runs of equal length. The large intermediate results go
into buffers that are kept from batch to batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open

from indexer.encode.batches import Batch
from indexer.encode.folder import ModelFolder, first_position, weights_prefix
from indexer.encode.linear import Linear, dtype_of, make_linear
from indexer.encode.precision import Precision
from indexer.encode.words import WordTable
from indexer.errors import EncoderError

Reader = Callable[[str], torch.Tensor]


class _Norm:
    """Layer normalisation over the last axis."""

    def __init__(self, read: Reader, name: str, eps: float, dtype: torch.dtype) -> None:
        self.weight = read(f"{name}.weight").to(dtype)
        self.bias = read(f"{name}.bias").to(dtype)
        self._eps = eps

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self._eps)

    def spread(self) -> torch.Tensor:
        """How far each output reaches, by estimate: three deviations around its shift."""
        return (3 * self.weight.abs() + self.bias.abs()).float()


@dataclass(frozen=True, slots=True)
class _Layer:
    qkv: Linear
    out: Linear
    norm: _Norm
    up: Linear
    down: Linear
    last_norm: _Norm


class _Buffers:
    """Room for the intermediate results of a batch, by name; grows to the largest batch seen."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._kept: dict[str, torch.Tensor] = {}

    def take(self, name: str, tokens: int, width: int) -> torch.Tensor:
        kept = self._kept.get(name)
        if kept is None or kept.shape[0] < tokens:
            kept = self._kept[name] = torch.empty(tokens, width, dtype=self._dtype)
        return kept[:tokens]

    def drop(self) -> None:
        self._kept.clear()


class LeanBert:
    """The weights and the forward pass. The word table stays in the file: only rows that are used take memory."""

    padded = False

    def __init__(self, folder: ModelFolder, precision: Precision = Precision.FLOAT32) -> None:
        path = folder.transformer / "model.safetensors"
        config = folder.config
        self._heads = int(config["num_attention_heads"])
        self._inner = int(config["intermediate_size"])
        self._first_position = first_position(config)
        self._pool = _POOL[folder.pooling]
        self._dtype = dtype_of(precision)
        self._buffers = _Buffers(self._dtype)
        try:
            with safe_open(path, framework="pt") as file, torch.inference_mode():
                prefix = weights_prefix(set(file.keys()))
                self._read(lambda name: file.get_tensor(prefix + name).float().clone(), config, precision)
        except (SafetensorError, OSError) as error:
            raise EncoderError(f"The encoder's file {path} cannot be read: {error}.") from error
        self._words = WordTable(path, f"{prefix}embeddings.word_embeddings.weight")

    def _read(self, read: Reader, config: dict[str, object], precision: Precision) -> None:
        eps = float(str(config.get("layer_norm_eps", 1e-12)))
        types = read("embeddings.token_type_embeddings.weight")
        self._positions = read("embeddings.position_embeddings.weight") + types[0]
        self._norm = norm = _Norm(read, "embeddings.LayerNorm", eps, self._dtype)
        self._layers = []
        for at in range(int(str(config["num_hidden_layers"]))):
            layer = _read_layer(read, f"encoder.layer.{at}.", norm, eps, precision)
            self._layers.append(layer)
            norm = layer.last_norm

    @torch.inference_mode()
    def embed(self, batch: Batch) -> torch.Tensor:
        """Unit rows, (sequences, hidden) float32, in the batch's order."""
        return F.normalize(self._pool(self.states(batch), batch), dim=1)

    @torch.inference_mode()
    def states(self, batch: Batch) -> torch.Tensor:
        """The last hidden states, (tokens, hidden) float32."""
        tokens = len(batch.ids)
        positions = torch.from_numpy(batch.positions + self._first_position)
        x = self._words.lookup(batch.ids).add_(F.embedding(positions, self._positions))
        width = x.shape[1]
        x = self._norm(x.to(self._dtype))
        take = self._buffers.take
        for layer in self._layers:
            attended = self._attend(layer.qkv(x, take("qkv", tokens, 3 * width)), batch)
            x = layer.norm(layer.out(attended, take("change", tokens, width)).add_(x))
            inner = torch.ops.aten.gelu_(layer.up(x, take("inner", tokens, self._inner)))
            x = layer.last_norm(layer.down(inner, take("change", tokens, width)).add_(x))
        return x.float()

    def _attend(self, qkv: torch.Tensor, batch: Batch) -> torch.Tensor:
        tokens, width = qkv.shape[0], qkv.shape[1] // 3
        out = self._buffers.take("attended", tokens, width)
        for run in batch.runs:
            parts = qkv[run.start : run.end].view(run.count, run.length, 3, self._heads, -1)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(query, key, value)
            out[run.start : run.end].view(run.count, run.length, self._heads, -1).copy_(mixed.transpose(1, 2))
        return out

    @property
    def bytes_per_token(self) -> int:
        """What the buffers and the largest temporaries of a batch take for each of its tokens, by calculation."""
        width = self._positions.shape[1]
        kept = 5 * width + self._inner  # qkv, attended, change; inner
        return int((kept + 4 * width) * torch.empty(0, dtype=self._dtype).element_size() + 8 * width)

    @property
    def bytes_to_come(self) -> int:
        """What the word table takes more once every one of its rows has been used."""
        return self._words.bytes_left

    def release(self) -> None:
        """Give the buffers back, after a batch that was too large for the memory."""
        self._buffers.drop()


def _read_layer(read: Reader, prefix: str, before: _Norm, eps: float, precision: Precision) -> _Layer:
    projections = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
    dtype = before.weight.dtype

    def linear(*names: str, spread: torch.Tensor | None = None) -> Linear:
        weight = torch.cat([read(f"{name}.weight") for name in names]) if len(names) > 1 else read(f"{names[0]}.weight")
        return make_linear(weight, torch.cat([read(f"{name}.bias") for name in names]), precision, spread)

    norm = _Norm(read, f"{prefix}attention.output.LayerNorm", eps, dtype)
    return _Layer(
        qkv=linear(*projections, spread=before.spread()),
        out=linear(f"{prefix}attention.output.dense"),
        norm=norm,
        up=linear(f"{prefix}intermediate.dense", spread=norm.spread()),
        down=linear(f"{prefix}output.dense"),
        last_norm=_Norm(read, f"{prefix}output.LayerNorm", eps, dtype),
    )


def _mean(states: torch.Tensor, batch: Batch) -> torch.Tensor:
    return torch.cat([states[r.start : r.end].view(r.count, r.length, -1).mean(1) for r in batch.runs])


def _first(states: torch.Tensor, batch: Batch) -> torch.Tensor:
    return torch.cat([states[r.start : r.end].view(r.count, r.length, -1)[:, 0] for r in batch.runs])


_POOL: dict[str, Callable[[torch.Tensor, Batch], torch.Tensor]] = {"mean": _mean, "cls": _first}
