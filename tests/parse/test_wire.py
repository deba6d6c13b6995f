"""What a parser process sends survives the way, and what it should not send is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from indexer.datatypes import Document, Heading, OffsetMap, Page, Status
from indexer.parse.events import Opened
from indexer.parse.options import ReadOptions, parse_size
from indexer.parse.wire import (
    HEADER,
    WireError,
    decode_event,
    decode_options,
    encode_event,
    encode_options,
    pack,
    unpack,
)


def sent(message: dict[str, Any]) -> dict[str, Any]:
    frame = pack(message)
    assert HEADER.unpack(frame[: HEADER.size])[0] == len(frame) - HEADER.size
    return unpack(frame[HEADER.size :])


@given(st.text(max_size=30), st.integers(0, 9), st.text(max_size=8), st.booleans())
def test_a_page_survives(text: str, number: int, title: str, recognised: bool) -> None:
    offsets = OffsetMap(((0, 0), (1, 3), (1, 5)), len(text), 40)
    page = Page(text, offsets, number, "iv", (Heading(2, title, 0),), "zh", "no text", recognised)
    assert decode_event(sent(encode_event(page))) == (page if number else Page(text, offsets, None, *_rest(page)))


def _rest(page: Page) -> tuple[Any, ...]:
    return page.label, page.headings, page.language, page.unread, page.recognised


def test_a_document_and_its_opening_survive() -> None:
    document = Document(
        "application/pdf", Status.PARTIAL, "why", "T", None, "2026", None, "en", 3, 9, 0.5, (2,), ("x",)
    )
    assert decode_event(sent(encode_event(document))) == document
    assert decode_event(sent(encode_event(Opened("text/plain", None)))) == Opened("text/plain", None)


def test_options_and_paths_that_are_not_utf8_survive() -> None:
    options = ReadOptions(passwords=("a", "ü"), ocr="never", seconds=3)
    assert decode_options(sent(encode_options(options))) == options
    assert sent({"path": "\udcff"}) == {"path": "\udcff"}


PAGE = encode_event(Page("text", OffsetMap.identity(4)))


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"page": 1},
        {"opened": []},
        {"opened": "x", "page_count": -1},
        {"document": []},
        PAGE | {"offsets": [4, 0]},
        PAGE | {"offsets": []},
        PAGE | {"offsets": [4, 0, 0, 3, 2, 1, 1]},
        PAGE | {"offsets": [4, 0, True]},
        PAGE | {"language": None},
        PAGE | {"headings": [[1, 2]]},
        PAGE | {"number": "1"},
        PAGE | {"label": 4},
    ],
)
def test_what_is_no_event_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(WireError):
        decode_event(message)


def test_a_status_that_does_not_exist_is_refused() -> None:
    message = encode_event(Document("x", Status.EMPTY))
    message["document"]["status"] = "fine"
    with pytest.raises(WireError):
        decode_event(message)


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"{", b"[" * 100_000, json.dumps("x").encode()])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        unpack(body)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=4), lambda inner: st.lists(inner, max_size=4)))
def test_any_nonsense_is_refused_and_nothing_else_raised(value: Any) -> None:
    for name in ("page", "document", "opened"):
        with pytest.raises(WireError):
            decode_event({name: value, "offsets": value, "language": value})


@pytest.mark.parametrize(("words", "size"), [("2GB", 2 << 30), ("512 MiB", 512 << 20), ("1.5G", 3 << 29), ("7", 7)])
def test_sizes_are_understood(words: str, size: int) -> None:
    assert parse_size(words, "parse_memory") == size


def test_a_size_that_is_none_is_named() -> None:
    from indexer.errors import SettingsError

    with pytest.raises(SettingsError, match="parse_memory is 'much'"):
        parse_size("much", "parse_memory")
