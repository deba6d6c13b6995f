"""What every encoder does with batches, for both forward passes: short memory, settings, calibration, threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, ModernBertConfig

from indexer.encode import load_encoder
from indexer.encode.batches import Batch
from indexer.encode.batching import BatchingEncoder
from indexer.encode.bert import LeanBert
from indexer.encode.padded import PaddedForward
from indexer.errors import EncoderError
from indexer.settings import Settings
from tests.encode.shapes import WORDS, write_model

SIZES: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "pad_token_id": 1,
}
SHAPES = {
    "lean": BertConfig(**SIZES),
    "padded": ModernBertConfig(**SIZES, bos_token_id=0, eos_token_id=2, cls_token_id=0, sep_token_id=2),
}
PASSES: dict[str, type[LeanBert] | type[PaddedForward]] = {"lean": LeanBert, "padded": PaddedForward}
TEXTS = [" ".join(WORDS[: 1 + at % 20]) for at in range(60)]


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def encoder(shape: str, tmp_path: Path, settings: Settings) -> BatchingEncoder:
    made = load_encoder(str(write_model(tmp_path / "model", SHAPES[shape])), settings=settings)
    assert isinstance(made, BatchingEncoder)
    return made


def again(encoder: BatchingEncoder, **changes: object) -> BatchingEncoder:
    """The same model after other settings."""
    settings = replace(encoder._settings, **changes)  # type: ignore[arg-type]  # tests name the fields
    made = load_encoder(str(encoder.folder.path), settings=settings)
    assert isinstance(made, BatchingEncoder)
    return made


def fail_above(monkeypatch: pytest.MonkeyPatch, shape: str, tokens: int) -> list[int]:
    """Let batches of more than ``tokens`` run out of memory as torch does; the sizes tried are kept."""
    tried: list[int] = []
    made = PASSES[shape]
    embed = made.embed

    def limited(self: Any, batch: Batch) -> torch.Tensor:
        tried.append(len(batch.ids))
        if len(batch.ids) > tokens:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory")
        return embed(self, batch)

    monkeypatch.setattr(made, "embed", limited)
    return tried


def test_a_batch_too_large_for_the_memory_is_halved(
    encoder: BatchingEncoder, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = encoder.encode_documents(TEXTS)
    tried = fail_above(monkeypatch, shape, 100)
    np.testing.assert_allclose(encoder.encode_documents(TEXTS), expected, atol=1e-6)
    assert max(tried) > 100
    tried.clear()
    encoder.encode_documents(TEXTS)
    assert max(tried) <= 200  # what was learnt is kept


def test_a_single_text_too_large_for_the_memory_says_so(
    encoder: BatchingEncoder, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_above(monkeypatch, shape, 3)
    with pytest.raises(EncoderError, match="not enough memory"):
        encoder.encode_documents(TEXTS)


def test_another_failure_is_not_taken_for_a_lack_of_memory(
    encoder: BatchingEncoder, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object, batch: Batch) -> torch.Tensor:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(PASSES[shape], "embed", broken)
    with pytest.raises(RuntimeError, match="shapes"):
        encoder.encode_documents(TEXTS)


def test_batches_cover_all_texts_once_and_count_their_tokens(encoder: BatchingEncoder) -> None:
    batches = list(again(encoder, batch_tokens=64).encode_in_batches(TEXTS))
    assert len(batches) > 3
    assert sorted(np.concatenate([batch.positions for batch in batches])) == list(range(len(TEXTS)))
    assert sum(batch.tokens for batch in batches) == sum(encoder.count_tokens(TEXTS)) + 2 * len(TEXTS)
    expected = encoder.encode_documents(TEXTS)
    for batch in batches:
        np.testing.assert_allclose(batch.rows, expected[batch.positions], atol=1e-6)


def test_several_threads_get_their_own_rows(encoder: BatchingEncoder) -> None:
    expected = encoder.encode_documents(TEXTS)

    def rows(order: Sequence[int]) -> bool:
        return np.allclose(encoder.encode_documents([TEXTS[at] for at in order]), expected[list(order)], atol=1e-6)

    orders = [np.random.default_rng(seed).permutation(len(TEXTS)).tolist() for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(rows, orders))


def longest_and_whole(encoder: BatchingEncoder) -> int:
    """The tokens of the largest batch, padding counted where there is any."""
    padded = encoder._forward(encoder.tuning().precision).padded
    sizes = []
    for batch in encoder.encode_in_batches(TEXTS):
        lengths = [count + 2 for count in encoder.count_tokens([TEXTS[at] for at in batch.positions])]
        sizes.append(max(lengths) * len(lengths) if padded else sum(lengths))
    return max(sizes)


def test_batch_tokens_bound_a_batch_padding_and_all(encoder: BatchingEncoder) -> None:
    assert 50 < longest_and_whole(again(encoder, batch_tokens=64)) <= 64
    assert 100 < longest_and_whole(again(encoder, batch_tokens=128)) <= 128


def test_little_memory_makes_batches_small(encoder: BatchingEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.encode.tuning.LEAST_BATCH_TOKENS", 40)
    assert longest_and_whole(again(encoder, memory="1MB")) <= 40
    assert longest_and_whole(again(encoder, memory="100GB")) > 40


def test_threads_are_those_that_were_asked_for(encoder: BatchingEncoder) -> None:
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            again(encoder, threads=threads).encode_documents(TEXTS)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_a_query_takes_one_thread_and_what_comes_after_it_all(encoder: BatchingEncoder) -> None:
    before = torch.get_num_threads()
    own = again(encoder, threads=2)
    try:
        for texts, threads in ((TEXTS, 2), (["one two"], 1), (TEXTS, 2)):
            own.encode_query(texts)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_bfloat16_is_another_calculation_with_nearly_the_same_rows(encoder: BatchingEncoder) -> None:
    exact = again(encoder, precision="float32").encode_documents(TEXTS)
    half = again(encoder, precision="bfloat16").encode_documents(TEXTS)
    assert 1e-5 < abs(exact - half).max() < 0.1
    assert (exact * half).sum(1).min() > 0.99  # random weights are harder to round than trained ones


def test_int8_is_for_the_lean_pass_alone(encoder: BatchingEncoder, shape: str) -> None:
    rounding = again(encoder, precision="int8")
    if shape == "lean":
        assert rounding.encode_documents(TEXTS).shape == (len(TEXTS), 32)
    else:
        with pytest.raises(EncoderError, match="int8: use float32, bfloat16"):
            rounding.encode_documents(TEXTS)


def test_a_large_call_measures_what_is_best_here(encoder: BatchingEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.encode.batching._WORTH_MEASURING", 500)
    encoder.encode_documents(TEXTS[:20])
    assert encoder._unmeasured()
    encoder.encode_documents(TEXTS)
    assert not encoder._unmeasured()
    assert again(encoder).tuning().batch_tokens in (1024, 2048, 4096, 8192)


def test_a_second_copy_of_the_weights_is_measured_only_where_it_fits(
    encoder: BatchingEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {trial.precision for trial in encoder.calibrate().trials} >= {"float32", "bfloat16"}
    monkeypatch.setattr("indexer.encode.batching.memory_room", lambda settings: 10)
    assert {trial.precision for trial in encoder.calibrate().trials} == {"float32"}


def test_what_was_prepared_is_not_loaded_again(encoder: BatchingEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder.prepare()
    monkeypatch.setattr(encoder, "_make", None)
    assert len(encoder.encode_documents(TEXTS)) == len(TEXTS)
