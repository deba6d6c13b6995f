"""What the encoder does when memory is short, in threads, and by batches."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig

from indexer.encode.batches import Batch
from indexer.encode.bert import LeanBert
from indexer.encode.folder import read_folder
from indexer.encode.lean import LeanEncoder
from indexer.errors import EncoderError
from indexer.settings import load_settings
from tests.encode.shapes import WORDS, write_model

TEXTS = [" ".join(WORDS[: 1 + at % 20]) for at in range(60)]


@pytest.fixture
def encoder(tmp_path: Path) -> LeanEncoder:
    config = BertConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, pad_token_id=1
    )
    folder = read_folder(write_model(tmp_path, config))
    return LeanEncoder(folder, folder.spec("tiny", "0"), replace(load_settings(), cache=tmp_path / "cache"))


def fail_above(monkeypatch: pytest.MonkeyPatch, tokens: int) -> list[int]:
    """Let batches of more than ``tokens`` run out of memory as torch does; the sizes tried are kept."""
    tried: list[int] = []
    embed = LeanBert.embed

    def limited(self: LeanBert, batch: Batch) -> torch.Tensor:
        tried.append(len(batch.ids))
        if len(batch.ids) > tokens:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory")
        return embed(self, batch)

    monkeypatch.setattr(LeanBert, "embed", limited)
    return tried


def test_a_batch_too_large_for_the_memory_is_halved(encoder: LeanEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = encoder.encode_documents(TEXTS)
    tried = fail_above(monkeypatch, 100)
    np.testing.assert_allclose(encoder.encode_documents(TEXTS), expected, atol=1e-6)
    assert max(tried) > 100
    tried.clear()
    encoder.encode_documents(TEXTS)
    assert max(tried) <= 200  # what was learnt is kept


def test_a_single_text_too_large_for_the_memory_says_so(encoder: LeanEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_above(monkeypatch, 3)
    with pytest.raises(EncoderError, match="not enough memory"):
        encoder.encode_documents(TEXTS)


def test_another_failure_is_not_taken_for_a_lack_of_memory(
    encoder: LeanEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: LeanBert, batch: Batch) -> torch.Tensor:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(LeanBert, "embed", broken)
    with pytest.raises(RuntimeError, match="shapes"):
        encoder.encode_documents(TEXTS)


def test_batches_cover_all_texts_once_and_count_their_tokens(encoder: LeanEncoder) -> None:
    encoder._settings = replace(encoder._settings, batch_tokens=64)
    batches = list(encoder.encode_in_batches(TEXTS))
    assert len(batches) > 3
    assert sorted(np.concatenate([batch.positions for batch in batches])) == list(range(len(TEXTS)))
    assert sum(batch.tokens for batch in batches) == sum(encoder.count_tokens(TEXTS)) + 2 * len(TEXTS)
    expected = encoder.encode_documents(TEXTS)
    for batch in batches:
        np.testing.assert_allclose(batch.rows, expected[batch.positions], atol=1e-6)


def test_several_threads_get_their_own_rows(encoder: LeanEncoder) -> None:
    expected = encoder.encode_documents(TEXTS)

    def rows(order: Sequence[int]) -> bool:
        return np.allclose(encoder.encode_documents([TEXTS[at] for at in order]), expected[list(order)], atol=1e-6)

    orders = [np.random.default_rng(seed).permutation(len(TEXTS)).tolist() for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(rows, orders))
