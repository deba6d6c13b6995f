"""The number formats an encoder can work in."""

from __future__ import annotations

from enum import StrEnum

LEAST_COSINE = 0.999  # to the float32 embedding; a format below it is refused


class Precision(StrEnum):
    """``int8`` rounds the inputs of matrix products to 7 bits a row and weights to 8 bits a column, the rest stays."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"
