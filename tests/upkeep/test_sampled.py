from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexer.library import Library
from indexer.upkeep import verify
from indexer.upkeep.sampled import encode_again
from tests.building import add_text, make_library

FOX = "".join(f"The quick brown fox number {number} jumps over lazy dog {number * 7}. " for number in range(60))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with make_library(tmp_path) as made:
        add_text(made.store, FOX, "/a")
        yield made


def test_what_is_stored_is_what_encoding_again_gives(library: Library) -> None:
    sampled = encode_again(library, 20)
    assert len(sampled.chunk_ids) == 20
    assert 0.9999 < sampled.least <= sampled.mean
    assert sampled.wrong == ()
    np.testing.assert_array_equal(sampled.chunk_ids, encode_again(library, 20).chunk_ids)
    assert len(encode_again(library, 10_000).chunk_ids) == len(library.store.chunk_ids())


def test_an_embedding_of_another_text_is_damage_to_its_document(library: Library) -> None:
    with sqlite3.connect(library.store.path) as connection:
        connection.execute("UPDATE embeddings SET vector = (SELECT vector FROM embeddings WHERE id = 2) WHERE id = 1")
    assert verify(library).damaged == ()
    found = verify(library, sample=10_000)
    (damage,) = found.damaged
    assert damage.document_id == 1
    assert "is not that of its text" in damage.what
    assert found.sampled is not None
    assert found.sampled.least < 0.99


def test_an_empty_library_has_nothing_to_encode(tmp_path: Path) -> None:
    with make_library(tmp_path) as empty:
        assert encode_again(empty, 5).least == 1.0
