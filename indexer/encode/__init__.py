"""Texts to unit float32 rows: the only room that imports torch, transformers and sentence_transformers.

Importing it, describing an encoder and counting tokens import none of them; the first encoding does.
"""

from indexer.encode.folder import EncoderSpec
from indexer.encode.load import describe_encoder, load_encoder
from indexer.encode.proof import Proof, prove

__all__ = ["EncoderSpec", "Proof", "describe_encoder", "load_encoder", "prove"]
