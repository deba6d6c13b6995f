"""Texts to unit float32 rows: the only room that imports torch, transformers and sentence_transformers.

Importing it, describing an encoder and counting tokens import none of them; the first encoding does.
"""

from indexer.encode.cost import PRECISIONS, Cost, CostTrial, Limits, Outcome, measure_cost
from indexer.encode.folder import EncoderSpec
from indexer.encode.load import describe_calibration, describe_encoder, load_encoder
from indexer.encode.pace import Pace, measure_pace
from indexer.encode.precision import LEAST_COSINE
from indexer.encode.presets import PRESETS, SIZES, RopeScaling
from indexer.encode.proof import Proof, prove
from indexer.encode.tuning import Calibration, Trial

__all__ = [
    "Calibration",
    "Cost",
    "CostTrial",
    "EncoderSpec",
    "LEAST_COSINE",
    "Limits",
    "Outcome",
    "PRECISIONS",
    "PRESETS",
    "Pace",
    "Proof",
    "RopeScaling",
    "SIZES",
    "Trial",
    "describe_calibration",
    "describe_encoder",
    "load_encoder",
    "measure_cost",
    "measure_pace",
    "prove",
]
