from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from indexer.datatypes import Span
from indexer.search.highlight import excerpt, mark, stem


def marked(text: str, weights: dict[str, float]) -> list[str]:
    return [span.of(text) for span in mark(text, weights).highlights]


def test_words_are_marked_in_their_other_forms() -> None:
    assert marked("The deliveries were late, delivering nothing.", {"delivery": 1.0, "late": 1.0}) == [
        "deliveries",
        "late",
        "delivering",
    ]
    assert stem("is") == "is"


def test_overlapping_bigrams_are_one_mark() -> None:
    assert marked("臺灣的資料庫很大", {"资料": 1.0, "料库": 1.0, "台湾": 1.0}) == ["臺灣", "資料庫"]
    assert marked("养猫的人，猫。", {"猫": 1.0}) == ["猫", "猫"]


def test_the_best_sentence_has_the_weightiest_words() -> None:
    text = "The pump is new. The seal of the pump leaks at night.  The night is long."
    best = mark(text, {"pump": 1.0, "seal": 3.0, "night": 1.0}).sentence
    assert best is not None
    assert best.of(text) == "The seal of the pump leaks at night."
    assert mark(text, {"absent": 1.0}).sentence is None
    chinese = "泵是新的。密封件夜里漏液。夜很长。"
    best = mark(chinese, {"密封": 3.0, "夜里": 1.0}).sentence
    assert best is not None
    assert best.of(chinese) == "密封件夜里漏液。"


@given(st.text(), st.dictionaries(st.text(min_size=1, max_size=8), st.floats(0.1, 5)))
def test_marks_are_in_order_and_inside_the_text(text: str, weights: dict[str, float]) -> None:
    marks = mark(text, weights)
    place = 0
    for span in marks.highlights:
        assert place <= span.start < span.end <= len(text)
        place = span.end
    assert marks.sentence is None or marks.sentence.end <= len(text)


def test_an_excerpt_has_the_sentence_and_cuts_no_word() -> None:
    text = "Words of the beginning are here. " * 20 + "The answer stands in this sentence. " + "The end follows. " * 20
    sentence = Span(text.index("The answer"), text.index("The answer") + 35)
    shown = excerpt(text, sentence, 100)
    assert "The answer stands in this sentence." in shown.of(text)
    for place in (shown.start, shown.end):
        assert not (text[place - 1].isalnum() and text[place].isalnum())
    assert excerpt("short", None, 100) == Span(0, 5)
    assert len(excerpt("字" * 500, None, 100)) == 100
    assert len(excerpt("x" * 500, Span(250, 260), 100)) < 200


@pytest.mark.parametrize(
    ("text", "weights", "sentence"),
    [
        (
            "6. LATE DELIVERY\nFor each week of late delivery the supplier pays one percent.",
            {"late": 2.0, "delivery": 2.0, "penalty": 5.0},
            "For each week",
        ),
        ("7.2 更换隔膜\n更换隔膜之前先关闭吸入阀。", {"更换": 3.0, "换隔": 3.0, "隔膜": 2.0}, "更换隔膜之前"),
        ("Warranty\nThe goods are packed in boxes.", {"warranty": 2.0}, "Warranty"),
    ],
)
def test_a_sentence_is_shown_rather_than_its_heading(text: str, weights: dict[str, float], sentence: str) -> None:
    found = mark(text, weights).sentence
    assert found is not None
    assert found.of(text).startswith(sentence)
