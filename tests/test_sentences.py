from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from indexer.sentences import LONGEST, Border, break_point, ends_sentence, sentences

MARKS = "ab Z9.!?。！？…,，;：\n\t\r\u2028\"'”）(「」\u0301\u200d\ud800ก字 "


def pieces(text: str) -> list[str]:
    return [sentence.span.of(text).strip() for sentence in sentences(text)]


@given(st.text(alphabet=MARKS, max_size=400) | st.text(max_size=200))
def test_sentences_tile_any_text(text: str) -> None:
    found = list(sentences(text))
    assert "".join(sentence.span.of(text) for sentence in found) == text
    assert all(len(sentence.span) > 0 for sentence in found)


@given(st.sampled_from(["x", "字", " ", "ก\u0e33", "e\u0301", "ab, ", "word "]), st.integers(1, 9_000))
def test_no_piece_is_longer_than_the_bound(unit: str, times: int) -> None:
    text = unit * times
    found = list(sentences(text))
    assert "".join(sentence.span.of(text) for sentence in found) == text
    assert max(len(sentence.span) for sentence in found) <= LONGEST


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One ends. Two begins! Three? Four.", ["One ends.", "Two begins!", "Three?", "Four."]),
        ("第一句。第二句！“第三句？”第四句。", ["第一句。", "第二句！", "“第三句？”", "第四句。"]),
        ("他说:“好。”然后走了。", ["他说:“好。”", "然后走了。"]),
        ("你好吗?我很好!谢谢。", ["你好吗?", "我很好!", "谢谢。"]),
        ("He said “No.” She left (at last.) Then rain.", ["He said “No.”", "She left (at last.)", "Then rain."]),
        ('"Why?" she asked. "Because."', ['"Why?" she asked.', '"Because."']),
        ("Dr. Smith and Mr. J. R. Jones met Prof. Li. They talked.", None),
        ("See Fig. 3 and No. 12, pp. 4-5. Then stop.", ["See Fig. 3 and No. 12, pp. 4-5.", "Then stop."]),
        ("He said no. Then he left.", ["He said no.", "Then he left."]),
        ("Rates of 3.14 % and 1.5 apply, e.g. Here. Next.", ["Rates of 3.14 % and 1.5 apply, e.g. Here.", "Next."]),
        ("It costs 5.00. The rest is free.", ["It costs 5.00.", "The rest is free."]),
        ("1. Scope\n2. Terms and conditions", ["1. Scope", "2. Terms and conditions"]),
        ("It grew until 2019. Then it fell.", ["It grew until 2019.", "Then it fell."]),
        ("Visit example.com today. Or tomorrow.", ["Visit example.com today.", "Or tomorrow."]),
        ("Wait... he came. It ended... Then came more.", ["Wait... he came.", "It ended...", "Then came more."]),
        ("ما هذا؟ هذا كتاب.", ["ما هذا؟", "هذا كتاب."]),
    ],
)
def test_where_sentences_end(text: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = ["Dr. Smith and Mr. J. R. Jones met Prof. Li.", "They talked."]
    assert pieces(text) == expected


def test_borders_say_how_strong_they_are() -> None:
    text = "A line\nA sentence. Another one.\nA paragraph.\n\nThe last"
    assert [sentence.border for sentence in sentences(text)] == [
        Border.LINE,
        Border.SENTENCE,
        Border.CLOSED_LINE,
        Border.PARAGRAPH,
        Border.INSIDE,
    ]


def test_a_sentence_may_end_in_quotes_and_brackets() -> None:
    assert ends_sentence("so he said (“never!”)  ")
    assert ends_sentence("如此。」")
    assert not ends_sentence("and then the")


def test_a_break_prefers_clauses_then_words_then_whole_characters() -> None:
    assert break_point("one two, three four", 0, 15) == len("one two, ")
    assert break_point("one two three", 4, 10) == len("one two ")
    assert break_point("e\u0301" * 10, 2, 11) == 10


def test_a_break_stays_when_text_is_put_in_front() -> None:
    words = " ".join(f"word{number * 7919 % 1000}" for number in range(800))
    before = {words[s.span.start : s.span.start + 20] for s in sentences(words)}
    after = "new words in front " + words
    moved = {after[s.span.start : s.span.start + 20] for s in sentences(after)}
    assert len(before & moved) >= len(before) - 2
