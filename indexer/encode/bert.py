"""A lean forward pass for BERT and XLM-RoBERTa: fused query-key-value projection, no padding, no mask, no gradients.

Held equal to transformers' own model by a test. A batch is a row of sequences end to end (batches.py): everything but
attention works on all its tokens at once; attention works on runs of equal length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open

from indexer.encode.batches import Batch
from indexer.encode.folder import ModelFolder
from indexer.errors import EncoderError


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes the forward pass needs; ``first_position`` is where position numbers begin."""

    layers: int
    heads: int
    eps: float
    first_position: int

    @classmethod
    def of(cls, config: dict[str, Any]) -> BertShape:
        from_padding = config["model_type"] != "bert"
        return cls(
            layers=int(config["num_hidden_layers"]),
            heads=int(config["num_attention_heads"]),
            eps=float(config.get("layer_norm_eps", 1e-12)),
            first_position=int(config.get("pad_token_id", 1)) + 1 if from_padding else 0,
        )


@dataclass(frozen=True, slots=True)
class _Layer:
    qkv: torch.Tensor
    qkv_bias: torch.Tensor
    out: torch.Tensor
    out_bias: torch.Tensor
    norm: torch.Tensor
    norm_bias: torch.Tensor
    up: torch.Tensor
    up_bias: torch.Tensor
    down: torch.Tensor
    down_bias: torch.Tensor
    last_norm: torch.Tensor
    last_norm_bias: torch.Tensor


class LeanBert:
    """The weights and the forward pass. The word table stays in the file, mapped: only used rows take memory."""

    def __init__(self, folder: ModelFolder) -> None:
        path = folder.transformer / "model.safetensors"
        self.shape = BertShape.of(folder.config)
        self._pool = _POOL[folder.pooling]
        try:
            with safe_open(path, framework="pt") as file:
                names = set(file.keys())
                prefix = next(
                    (p for p in ("", "bert.", "roberta.") if f"{p}embeddings.word_embeddings.weight" in names), ""
                )
                self._read(lambda name: file.get_tensor(prefix + name))
        except (SafetensorError, OSError) as error:
            raise EncoderError(f"The encoder's file {path} cannot be read: {error}.") from error

    def _read(self, get: Callable[[str], torch.Tensor]) -> None:
        self._words = get("embeddings.word_embeddings.weight")
        types = get("embeddings.token_type_embeddings.weight").float()
        self._positions = get("embeddings.position_embeddings.weight").float() + types[0]
        self._norm = get("embeddings.LayerNorm.weight").float()
        self._norm_bias = get("embeddings.LayerNorm.bias").float()
        self._layers = [_read_layer(get, f"encoder.layer.{at}.") for at in range(self.shape.layers)]

    @torch.inference_mode()
    def embed(self, batch: Batch) -> torch.Tensor:
        """Unit rows, (sequences, hidden) float32, in the batch's order."""
        return F.normalize(self._pool(self.states(batch), batch), dim=1)

    @torch.inference_mode()
    def states(self, batch: Batch) -> torch.Tensor:
        """The last hidden states, (tokens, hidden)."""
        positions = torch.from_numpy(batch.positions + self.shape.first_position)
        x = F.embedding(torch.from_numpy(batch.ids), self._words).float() + F.embedding(positions, self._positions)
        width = x.shape[1]
        eps = self.shape.eps
        x = F.layer_norm(x, (width,), self._norm, self._norm_bias, eps)
        for layer in self._layers:
            attended = self._attend(F.linear(x, layer.qkv, layer.qkv_bias), batch)
            x = F.layer_norm(
                F.linear(attended, layer.out, layer.out_bias).add_(x), (width,), layer.norm, layer.norm_bias, eps
            )
            inner = F.gelu(F.linear(x, layer.up, layer.up_bias))
            x = F.layer_norm(
                F.linear(inner, layer.down, layer.down_bias).add_(x),
                (width,),
                layer.last_norm,
                layer.last_norm_bias,
                eps,
            )
        return x

    def _attend(self, qkv: torch.Tensor, batch: Batch) -> torch.Tensor:
        width = qkv.shape[1] // 3
        out = torch.empty(qkv.shape[0], width, dtype=qkv.dtype)
        for run in batch.runs:
            parts = qkv[run.start : run.end].view(run.count, run.length, 3, self.shape.heads, -1)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(query, key, value)
            out[run.start : run.end].view(run.count, run.length, self.shape.heads, -1).copy_(mixed.transpose(1, 2))
        return out


def _read_layer(get: Callable[[str], torch.Tensor], prefix: str) -> _Layer:
    projections = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
    others = (
        "attention.output.dense",
        "attention.output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    )
    return _Layer(
        torch.cat([get(f"{name}.weight").float() for name in projections]),
        torch.cat([get(f"{name}.bias").float() for name in projections]),
        *(get(f"{prefix}{name}.{kind}").float() for name in others for kind in ("weight", "bias")),
    )


def _mean(states: torch.Tensor, batch: Batch) -> torch.Tensor:
    return torch.cat([states[r.start : r.end].view(r.count, r.length, -1).mean(1) for r in batch.runs])


def _first(states: torch.Tensor, batch: Batch) -> torch.Tensor:
    return torch.cat([states[r.start : r.end].view(r.count, r.length, -1)[:, 0] for r in batch.runs])


_POOL: dict[str, Callable[[torch.Tensor, Batch], torch.Tensor]] = {"mean": _mean, "cls": _first}
