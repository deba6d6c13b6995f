from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from indexer.datatypes import Chunk, Span, text_hash
from indexer.windows import Windowing, is_key_of, window_keys
from tests.building import recipe
from tests.fakes import FakeEncoder


def chunks(tokens: list[int]) -> list[Chunk]:
    return [Chunk(at, Span(at, at + 1), f"词 {at}", count) for at, count in enumerate(tokens)]


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 600))
def test_windows_tile_the_chunks_and_keep_to_their_tokens(tokens: list[int], limit: int) -> None:
    windows = list(Windowing(limit).cut(chunks(tokens)))
    assert [chunk for window in windows for chunk in window.chunks] == chunks(tokens)
    for window in windows:
        assert sum(chunk.tokens for chunk in window.chunks) <= limit or len(window.chunks) == 1
    for one, other in zip(windows, windows[1:], strict=False):
        assert sum(chunk.tokens for chunk in (*one.chunks, other.chunks[0])) > limit


def test_without_windows_every_chunk_is_kept_by_its_own_text() -> None:
    (first, second) = Windowing().cut(chunks([5, 5]))
    assert (first.keys, second.keys) == ((text_hash("词 0"),), (text_hash("词 1"),))


def test_a_key_depends_on_what_stands_around() -> None:
    texts = ["the pump", "the valve", "the pump"]
    keys = window_keys(texts)
    assert len(set(keys)) == 3  # the same text twice in a window is encoded twice
    assert all(len(key) == len(text_hash("")) for key in keys)
    assert not set(keys) & set(window_keys(["the pump", "the VALVE", "the pump"]))
    assert not set(keys) & set(window_keys(texts[:2]))
    assert not set(keys) & set(map(text_hash, texts))
    assert keys == window_keys(texts)


def test_a_key_still_tells_its_own_text() -> None:
    key = window_keys(["发票", "付款"])[1]
    assert is_key_of(key, "付款", windowed=True)
    assert not is_key_of(key, "发票", windowed=True)
    assert not is_key_of(key, "付款", windowed=False)
    assert is_key_of(text_hash("付款"), " 付款\n", windowed=False)


def test_a_recipe_asks_for_windows_as_far_as_the_encoder_goes() -> None:
    encoder = FakeEncoder()
    assert Windowing.of(recipe(), encoder) == Windowing(0)
    assert Windowing.of(recipe(window=300), encoder) == Windowing(300)
    assert Windowing.of(recipe(window=8192), encoder) == Windowing(encoder.max_tokens)


def test_rows_stand_in_the_order_of_the_chunks() -> None:
    windowing, encoder = Windowing(10), FakeEncoder()
    windows = list(windowing.cut(chunks([5, 5, 5])))
    rows = windowing.encode(encoder, windows)
    alone = FakeEncoder().encode_documents([chunk.text for chunk in chunks([5, 5, 5])])
    assert np.argmax(rows @ alone.T, axis=1).tolist() == [0, 1, 2]
    assert not np.allclose(rows[0], alone[0])
    np.testing.assert_array_equal(Windowing().encode(encoder, list(Windowing().cut(chunks([5, 5, 5])))), alone)
