from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, strategies as st

from indexer import lexical

TEXTS = [
    "The supplier pays a penalty for late delivery under PPR-9087, see § 4.2(b).",
    "迟交货物时由供应商支付违约金。关于CPU服务器的第3条款。",
    "臺灣的資料庫",
    "Herr Müller wohnt in der Großen Straße, Sales grew to 1,000 units.",
    "계약서를 작성한다. データベースの図書館",
    "हिन्दी भाषा",
]


@pytest.fixture(scope="module")
def table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table texts using fts5(body, tokenize='ascii')")
    connection.executemany("insert into texts values (?)", [(lexical.index_text(text),) for text in TEXTS])
    return connection


def found(table: sqlite3.Connection, expression: str | None) -> list[int]:
    if expression is None:
        return []
    rows = table.execute("select rowid from texts where texts match ? order by bm25(texts)", (expression,))
    return [row[0] - 1 for row in rows]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("late deliveries", 0),
        ("PPR-9087", 0),
        ("PPR9087", 0),
        ("ppr 9087", 0),
        ("§4.2(b)", 0),
        ("违约金", 1),
        ("違約金", 1),
        ("服务", 1),
        ("料", 2),
        ("庫", 2),
        ("台湾", 2),
        ("muller", 3),
        ("MÜLLER", 3),
        ("grosse strasse", 3),
        ("1000 units", 3),
        ("1,000", 3),
        ("계약서", 4),
        ("ﾃﾞｰﾀ", 4),
        ("圖書館", 4),
        ("हिन्दी", 5),
    ],
)
def test_typed_as_people_type_it_the_text_is_found(table: sqlite3.Connection, query: str, first: int) -> None:
    assert found(table, lexical.match_expression(query))[:1] == [first]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("late delivery", [0]),
        ("delivery late", []),
        ("供应商支付", [1]),
        ("支付供应商", []),
        ("CPU服务器", [1]),
        ("第3条", [1]),
        ("器的第", [1]),
        ("资料库", [2]),
        ("see § 4", [0]),
    ],
)
def test_a_phrase_is_found_word_for_word_only(table: sqlite3.Connection, phrase: str, expected: list[int]) -> None:
    assert found(table, lexical.phrase_expression(phrase)) == expected
    assert found(table, lexical.match_expression("", phrases=[phrase])) == expected


def test_required_and_excluded_words_bind_the_result(table: sqlite3.Connection) -> None:
    assert set(found(table, lexical.match_expression("delivery units"))) == {0, 3}
    assert found(table, lexical.match_expression("delivery units", excluded=["penalty"])) == [3]
    assert found(table, lexical.match_expression("delivery units", phrases=["Großen Straße"])) == [3]


@given(st.text(), st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_no_query_text_is_a_syntax_error(
    table: sqlite3.Connection, text: str, phrases: list[str], excluded: list[str]
) -> None:
    found(table, lexical.match_expression(text, phrases=phrases, excluded=excluded))
    found(table, lexical.any_expression([text, *phrases]))


@pytest.mark.parametrize(
    "query", ['"', "(", "AND", "NEAR(a b)", "*", "a AND OR NOT", "x" * 10_000, "\x00", "\ud800", "^a"]
)
def test_operators_of_the_index_are_plain_words(table: sqlite3.Connection, query: str) -> None:
    found(table, lexical.match_expression(query))


def test_nothing_to_look_for_gives_no_expression() -> None:
    for query in ("", "   ", "?!,", "😀😀", '"'):
        assert lexical.match_expression(query) is None


def test_stopwords_are_dropped_unless_there_is_nothing_else() -> None:
    assert lexical.query_terms("what is the penalty") == ["penalty"]
    assert lexical.query_terms("to be or not to be") == ["to", "be", "or", "not"]


@given(st.text())
def test_places_of_terms_fold_to_the_terms(text: str) -> None:
    located = lexical.terms(text)
    assert " ".join(term.text for term in located) == lexical.index_text(text)
    assert all(0 <= term.span.start < term.span.end <= len(text) for term in located)


def test_umlauts_may_be_written_out() -> None:
    assert lexical.spellings("Müller") == ["mueller"]
    assert lexical.spellings("Mueller") == ["muller"]
    assert lexical.spellings("late") == []


def test_a_section_is_found_without_its_sign_too() -> None:
    assert '"4 2"' in lexical.query_phrases("§ 4.2")
    assert '"4"' not in lexical.query_phrases("§ 4")
