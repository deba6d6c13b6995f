from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from indexer.datatypes import Span
from indexer.fold import fold, fold_with_offsets


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("臺灣的資料庫", "台湾的资料库"),
        ("Ｆｕｌｌｗｉｄｔｈ　２０２６", "fullwidth 2026"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
        ("リンゴ", "りんご"),
        ("図書館", "圖書館"),
        ("図書館", "图书馆"),
        ("Straße", "STRASSE"),
        ("Ça été", "ca e\u0301te\u0301"),
        ("ﬁnal oﬃce", "final office"),
        ("so\u00adft\u200bware", "software"),
        ("Łódź Øresund", "lodz oresund"),
        ("⽔", "水"),
        ("\u1112\u1161\u11ab", "한"),
        ("İstanbul", "istanbul"),
        ("PPR\u20119087", "ppr-9087"),
    ],
)
def test_what_people_take_for_the_same_folds_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"), [("欠款", "缺款"), ("か", "が"), ("क", "कि"), ("9087", "9078"), ("한", "하")]
)
def test_what_is_different_stays_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_offsets_lead_back_to_the_original_characters() -> None:
    text = "eﬃcient Ａe\u0301 Straße 臺灣"
    folded = fold_with_offsets(text)
    for part, original in [("efficient", "eﬃcient"), ("ae", "Ａe\u0301"), ("strasse", "Straße"), ("台湾", "臺灣")]:
        start = folded.text.index(part)
        assert folded.to_original(Span(start, start + len(part))).of(text) == original


@given(st.text())
def test_folding_with_offsets_is_folding_and_spans_stay_inside(text: str) -> None:
    folded = fold_with_offsets(text)
    assert folded.text == fold(text)
    for start in range(len(folded.text)):
        span = folded.to_original(Span(start, start + 1))
        assert 0 <= span.start < span.end <= len(text)


@given(st.text())
def test_folding_a_part_of_ascii_is_lowering_it(text: str) -> None:
    ascii_text = text.encode("ascii", "ignore").decode()
    assert fold(ascii_text) == ascii_text.lower()
