"""Dense layers in each precision, writing into buffers that are kept: ``y = x @ weight.T + bias``."""

from __future__ import annotations

import warnings
from typing import Protocol

import torch

from indexer.encode.precision import Precision


class Linear(Protocol):
    """A dense layer: x is (tokens, inputs), ``out`` (tokens, outputs) is written and returned."""

    def __call__(self, x: torch.Tensor, out: torch.Tensor) -> torch.Tensor: ...


def dtype_of(precision: Precision) -> torch.dtype:
    """What a model's states are kept in; whatever is not bfloat16 keeps float32 between its layers."""
    return torch.bfloat16 if precision is Precision.BFLOAT16 else torch.float32


class FloatLinear:
    """float32 or bfloat16, whichever the weight is given in."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        self._weight = weight.t()
        self._bias = bias

    def __call__(self, x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        return torch.addmm(self._bias, x, self._weight, out=out)


class Int8Linear:
    """8-bit weights, a scale for each output; 7-bit inputs, a scale and an offset for each row.

    A row has its own scale, since single tokens reach far beyond the others: one scale for all costs a cosine of
    0.02. That also makes the result independent of what else is in the batch. ``spread`` (inputs,) is how far each
    input reaches by estimate; a part of it moves from the inputs into the weights (SmoothQuant, arXiv 2211.10438).
    Inputs keep to 7 bits because AVX2 adds two products in 16 bits.
    """

    _LEVELS = 127

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, spread: torch.Tensor | None = None) -> None:
        self._shrink = None
        if spread is not None:
            stretch = (spread / weight.abs().amax(0).clamp_min(1e-6)).clamp_min(1e-6).sqrt()
            weight = weight * stretch
            self._shrink = stretch.reciprocal()
        scales = weight.abs().amax(1).clamp_min(1e-12).double() / self._LEVELS
        zeros = torch.zeros(len(scales), dtype=torch.int64)
        with warnings.catch_warnings():
            # torch announces that these types will go in some later release; constraints.txt pins the release
            warnings.filterwarnings("ignore", message=".*are deprecated and will be removed", category=UserWarning)
            quantized = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self._packed = torch.ops.quantized.linear_prepack(quantized, None)
        self._corrections = torch.stack([quantized.dequantize().sum(1), bias])

    def __call__(self, x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        if self._shrink is not None:
            x = x * self._shrink
        low, high = x.aminmax(dim=1, keepdim=True)
        steps = (high - low).clamp_min_(1e-12).reciprocal_().mul_(self._LEVELS)
        scaled = torch.sub(x, low).mul_(steps)
        product = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32(scaled, 1.0, 0, self._packed)
        torch.addmm(product, torch.cat([low * steps, steps], 1), self._corrections, out=out)
        return out.div_(steps)


def make_linear(
    weight: torch.Tensor, bias: torch.Tensor, precision: Precision, spread: torch.Tensor | None = None
) -> Linear:
    """The layer in ``precision`` from float32 weights (outputs, inputs)."""
    if precision is Precision.INT8:
        return Int8Linear(weight, bias, spread)
    dtype = dtype_of(precision)
    return FloatLinear(weight.to(dtype).contiguous(), bias.to(dtype))
