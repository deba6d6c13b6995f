"""Chunks that share a pass: held to a plain reference, for the lean pass, padded batches and LFM2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, ModernBertConfig, XLMRobertaConfig

from indexer.datatypes import Matrix
from indexer.encode import load_encoder
from indexer.encode.base import FolderEncoder
from indexer.errors import EncoderError
from indexer.settings import Settings
from tests.encode.shapes import write_lfm2, write_model
from tests.encode.test_lfm2 import plain_states
from tests.encode.test_shapes import SHAPES

WINDOWS = [
    ("the cat sat on the mat .", "who pays when delivery is late ?"),
    ("长文本分块", "猫", "鱼 the pump"),
    ("dog",),
]


def rows_of(encoder: FolderEncoder, windows: list[tuple[str, ...]]) -> Matrix:
    rows = np.full((sum(map(len, windows)), encoder.dimension), np.nan, dtype=np.float32)
    for batch in encoder.encode_windows(windows):
        rows[batch.positions] = batch.rows
    return rows


def reference(folder: Path, encoder: FolderEncoder, window: tuple[str, ...]) -> Matrix:
    """The chunks' rows by transformers' own model: one sequence, each chunk's states averaged."""
    model = AutoModel.from_pretrained(folder).eval()
    parts = [ids.tolist() for ids in encoder._tokenizer.content_ids(window)]
    with torch.inference_mode():
        states = model(input_ids=torch.tensor([[0, *sum(parts, []), 2]])).last_hidden_state[0, 1:-1]
    pooled = torch.stack([one.mean(0) for one in states.split([len(part) for part in parts])])
    return torch.nn.functional.normalize(pooled, dim=1).numpy()


@pytest.mark.parametrize("shape", SHAPES)
def test_each_row_is_pooled_from_its_own_tokens_in_one_pass(shape: str, tmp_path: Path, settings: Settings) -> None:
    folder = write_model(tmp_path, SHAPES[shape], length=100)
    encoder = load_encoder(str(folder), settings=settings)
    assert isinstance(encoder, FolderEncoder)
    expected = np.concatenate([reference(folder, encoder, window) for window in WINDOWS])
    np.testing.assert_allclose(rows_of(encoder, WINDOWS), expected, atol=2e-5)


def test_a_chunk_knows_what_stands_behind_it(tmp_path: Path, settings: Settings) -> None:
    folder = write_model(tmp_path, SHAPES["xlm-roberta"], length=100)
    encoder = load_encoder(str(folder), settings=settings)
    one = rows_of(encoder, [("the cat", "the dog"), ("invoice", "pump")])
    other = rows_of(encoder, [("the cat", "the mat"), ("invoice", "pump")])
    assert abs(one[0] - other[0]).max() > 1e-4
    np.testing.assert_allclose(one[2:], other[2:], atol=1e-5)  # another window is none of its business


def test_the_prompt_stands_once_before_a_window_and_is_not_pooled(tmp_path: Path, settings: Settings) -> None:
    folder = write_model(tmp_path, SHAPES["xlm-roberta"], length=100)
    plain = load_encoder(str(folder), settings=settings)
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"document": "the invoice "}}')
    prompted = load_encoder(str(folder), settings=settings)
    wanted = rows_of(plain, [("the invoice", "the cat", "the dog")])[1:]
    np.testing.assert_allclose(rows_of(prompted, [("the cat", "the dog")]), wanted, atol=2e-5)


def test_a_chunk_without_a_token_still_has_a_row(tmp_path: Path, settings: Settings) -> None:
    encoder = load_encoder(str(write_model(tmp_path, SHAPES["xlm-roberta"], length=100)), settings=settings)
    rows = rows_of(encoder, [("", "the cat"), ("the dog", "\u200b \n")])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("shape", ["modernbert", "xlm-roberta"])
def test_a_window_that_is_too_long_is_refused_before_anything_is_encoded(
    shape: str, tmp_path: Path, settings: Settings
) -> None:
    encoder = load_encoder(str(write_model(tmp_path, SHAPES[shape], length=20)), settings=settings)
    with pytest.raises(EncoderError, match="does not fit"):
        rows_of(encoder, [("the cat",), ("the " * 12, "dog " * 12)])
    full = encoder.max_tokens
    assert rows_of(encoder, [("the " * (full - 5), "dog " * 5)]).shape == (2, 32)


@pytest.mark.parametrize("config", [SHAPES["xlm-roberta"], SHAPES["modernbert"]])
def test_a_model_that_pools_otherwise_is_refused(
    config: XLMRobertaConfig | ModernBertConfig, tmp_path: Path, settings: Settings
) -> None:
    encoder = load_encoder(str(write_model(tmp_path, config, pooling="cls", length=100)), settings=settings)
    with pytest.raises(EncoderError, match="leave --window out"):
        rows_of(encoder, WINDOWS)


def test_lfm2_shares_passes_too(tmp_path: Path, settings: Settings) -> None:
    folder = write_lfm2(tmp_path, pooling="mean")
    encoder = load_encoder(str(folder), settings=settings)
    assert isinstance(encoder, FolderEncoder)
    rows = rows_of(encoder, WINDOWS)
    parts = [ids.tolist() for ids in encoder._tokenizer.content_ids(WINDOWS[0])]
    states = plain_states(folder, torch.tensor([0, *sum(parts, []), 2]))[1:-1]
    pooled = torch.stack([one.mean(0) for one in states.split([len(part) for part in parts])])
    expected = torch.nn.functional.normalize(pooled, dim=1).numpy()
    np.testing.assert_allclose(rows[:2], expected, atol=1e-4)


def test_max_pooling_takes_the_largest_of_each_chunk(tmp_path: Path, settings: Settings) -> None:
    folder = write_model(tmp_path, SHAPES["modernbert"], pooling="max", length=100)
    encoder = load_encoder(str(folder), settings=settings)
    (single,) = rows_of(encoder, [("dog",)])
    model = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        state = model(input_ids=torch.tensor([[0, encoder._tokenizer.content_ids(["dog"])[0][0], 2]]))
    expected = torch.nn.functional.normalize(state.last_hidden_state[0, 1], dim=0).numpy()
    np.testing.assert_allclose(single, expected, atol=2e-5)
