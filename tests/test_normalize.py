"""Cleaning finds what a person typed, and every cleaned span maps back to the originals it stands for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from indexer.datatypes import Span
from indexer.normalize import clean

AWKWARD = st.text(
    st.one_of(
        st.sampled_from(
            "ab cd- \n\r\n\t\u00ad\ufffe\x00\u200b\u3000ﬁ⼈⻓２Ａｱﾞé中文，。\u0301\u1112\u1161\u11ab\ud83d\ude00\u200d¨ı"
        ),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ("ﬁnd the oﬃce", "find the office"),
        ("⼈⼯ and ⻓⻔⻢", "人工 and 长门马"),
        ("a run of\x00\x00\x00 NUL", "a run of NUL"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("２０２６年 ＡＢＣ", "2026年 ABC"),
        ("好，世界！（是）", "好，世界！（是）"),
        ("ﾃﾞｰﾀ", "データ"),
        ("e\u0301te\u0301", "été"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("na¨ıve", "naïve"),
        ("lone \ud800 here", "lone \ufffd here"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("no\u00a0break  \t spaces", "no break spaces"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("2½ cups", "2½ cups"),
        ("one\r\n\r\n\r\n two", "one\n\ntwo"),
    ],
)
def test_awkward_characters_become_what_a_person_types(raw: str, found: str) -> None:
    assert clean(raw).text == found


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ("the deliv-\nery is late", "the delivery is late"),
        ("a well-known, well-\nknown case", "a well-known, well-known case"),
        ("Anglo-\nSaxon", "Anglo-Saxon"),
        ("COVID-\n19", "COVID-19"),
        ("Vor-\nund Nachteile", "Vor- und Nachteile"),
        ("pre\ufffecisely", "precisely"),
        ("第一行\n第二行", "第一行第二行"),
        ("first line\nsecond line\n\nnext", "first line second line\n\nnext"),
        ("this -\nthat", "this - that"),
    ],
)
def test_lines_of_a_paragraph_are_joined(raw: str, found: str) -> None:
    assert clean(raw, join_lines=True).text == found


def test_lines_stay_when_they_mean_something() -> None:
    assert clean("a: 1\nb: 2").text == "a: 1\nb: 2"


def test_dropped_spans_are_left_out_and_mapped_around() -> None:
    raw = "Header\nThe text begins."
    cleaned = clean(raw, drop=[Span(0, 7)])
    assert cleaned.text == "The text begins."
    assert cleaned.offsets.to_original(Span(4, 8)).of(raw) == "text"


def test_a_span_next_to_a_dropped_one_does_not_grow_over_it() -> None:
    raw = "wordHEADERnext"
    cleaned = clean(raw, drop=[Span(4, 10)])
    assert cleaned.offsets.to_original(Span(0, 4)).of(raw) == "word"
    assert cleaned.offsets.to_original(Span(4, 8)).of(raw) == "next"


@given(AWKWARD, st.booleans())
def test_cleaned_text_has_no_character_that_breaks_a_store(raw: str, join: bool) -> None:
    text = clean(raw, join_lines=join).text
    assert not any(unicodedata.category(c) in ("Cc", "Cs") and c != "\n" for c in text)
    text.encode("utf-8")


@given(AWKWARD, st.booleans())
def test_cleaning_twice_changes_nothing_more(raw: str, join: bool) -> None:
    once = clean(raw, join_lines=join).text
    twice = clean(once, join_lines=join).text
    assert clean(twice, join_lines=join).text == twice


@given(AWKWARD, st.booleans(), st.data())
def test_spans_map_back_to_originals_that_give_the_same_text(raw: str, join: bool, data: st.DataObject) -> None:
    cleaned = clean(raw, join_lines=join)
    start = data.draw(st.integers(0, len(cleaned.text)))
    end = data.draw(st.integers(start, len(cleaned.text)))
    original = cleaned.offsets.to_original(Span(start, end))
    assert 0 <= original.start <= original.end <= len(raw)
    assert (start == end) or len(original) > 0
    plain = [c for c in cleaned.text[start:end] if c.isascii() and c.isalnum()]
    source = unicodedata.normalize("NFKC", original.of(raw))
    assert all(c in source for c in plain)


@given(AWKWARD, st.booleans())
def test_runs_ascend_on_both_sides(raw: str, join: bool) -> None:
    runs = clean(raw, join_lines=join).offsets.runs
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(runs, runs[1:], strict=False))


@given(st.text(st.sampled_from("abc xyz,."), min_size=1, max_size=40).map(str.strip))
def test_from_original_inverts_to_original_in_plain_text(text: str) -> None:
    cleaned = clean(text)
    for offset in range(len(cleaned.text)):
        assert cleaned.from_original(cleaned.offsets.to_original(Span(offset, offset + 1)).start) == offset
