from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from indexer.errors import QueryError
from indexer.search.languages import query_language
from indexer.search.options import SearchOptions, parse_filters
from indexer.search.query import parse_query, split_long


def test_operators_are_taken_out_of_the_text() -> None:
    query = parse_query('rent "notice period" -draft title:lease lang:English after:2023 before:2024-05')
    assert query.text == "rent notice period"
    assert query.phrases == ("notice period",)
    assert query.excluded == ("draft",)
    assert query.filter.titles == ("lease",)
    assert query.filter.languages == ("en",)
    assert (query.filter.date_from, query.filter.date_to) == ("2023", "2024-05")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("minus -5 degrees", "minus -5 degrees"),
        ("- item one", "- item one"),
        ("re: your letter", "re: your letter"),
        ("see http://example.org", "see http://example.org"),
        ("well-known -", "well-known -"),
        ('a 5" pipe', "a 5 pipe"),
        ("before:tomorrow", "tomorrow"),
        ("什么是“三权分置”？", "什么是“三权分置”？"),
    ],
)
def test_what_is_no_operator_is_plain_text(text: str, plain: str) -> None:
    query = parse_query(text)
    assert query.text == plain
    assert query.phrases == query.excluded == ()
    assert not query.filter


def test_quotes_of_word_processors_are_quotes() -> None:
    assert parse_query("“late delivery” clause").phrases == ("late delivery",)


def test_a_quoted_phrase_can_be_excluded_and_a_field_quoted() -> None:
    query = parse_query('lease -"draft version" title:"unit 7" tag:old path:contracts 金额 -草稿')
    assert query.excluded == ("draft version", "草稿")
    assert query.filter.titles == ("unit 7",)
    assert query.filter.tags == ("old",)
    assert query.filter.path_parts == ("contracts",)
    assert query.text == "lease 金额"


def test_fields_can_be_excluded() -> None:
    query = parse_query('lot 2507 -title:"8D report" -lang:zh')
    assert query.text == "lot 2507"
    assert [unwanted.titles for unwanted in query.unwanted] == [("8D report",), ()]
    assert query.unwanted[1].languages == ("zh",)
    assert parse_query("well -re:x").text == "well -re:x"


def test_a_wrong_date_is_said() -> None:
    assert "before" in parse_query("x before:tomorrow").warnings[0]


def test_a_pasted_text_has_no_operators() -> None:
    text = 'He said "no" and left -quickly. ' * 20
    assert parse_query(text).text == " ".join(text.split())


@given(st.text())
def test_any_text_can_be_taken_apart(text: str) -> None:
    parse_query(text)


@given(st.text(), st.integers(10, 200))
def test_pieces_of_a_long_text_are_bounded_and_lose_nothing(text: str, limit: int) -> None:
    pieces = split_long(text, limit)
    assert all(len(piece) <= 2 * limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "present", "language"),
    [
        ("who pays when delivery is late", {"en": 10, "zh": 10}, "en"),
        ("迟交货物", {"en": 10, "zh": 10}, "zh"),
        ("CPU 服务器", {"en": 10, "zh": 10}, "zh"),
        ("図書館の本", {"ja": 10}, "ja"),
        ("図書館", {"ja": 10}, "ja"),
        ("계약서", {"ko": 1}, "ko"),
        ("wer zahlt bei der Lieferung", {"en": 10, "de": 2}, "de"),
        ("die casting machine", {"en": 10, "de": 2}, "en"),
        ("договор", {"uk": 5, "ru": 1}, "uk"),
        ("PPR-9087", {"zh": 10}, "en"),
        ("PPR-9087", {"de": 10, "zh": 10}, "de"),
        ("?", {}, "en"),
    ],
)
def test_the_language_of_a_query(text: str, present: dict[str, int], language: str) -> None:
    assert query_language(text, present) == language


def test_filters_are_understood_or_named() -> None:
    wanted = parse_filters(["type=pdf", "type=docx", "language=German", "after=2020", "id=7", "tag=x"])
    assert wanted.types == ("pdf", "docx")
    assert wanted.languages == ("de",)
    assert wanted.ids == (7,)
    for wrong in ("type", "type=", "colour=red", "after=soon", "id=seven"):
        with pytest.raises(QueryError):
            parse_filters([wrong])
    with pytest.raises(QueryError):
        SearchOptions(k=0)
