from __future__ import annotations

from hypothesis import given, settings, strategies as st

from indexer.duplicates.cutting import sentences
from indexer.duplicates.differences import find_differences
from tests.duplicates.memory import prose

BEFORE = """This Agreement is made on 3 March 2024 between Acme Ltd and Mary Jones. Notices are in writing.
The Buyer shall pay USD 1,200.50 within thirty (30) days. The seller delivers to Berlin.
甲方：北京星辰科技有限公司
乙方应于2024年5月1日前支付人民币十万元。联系人王芳。
"""
AFTER = """This Agreement is made on 4 March 2024 between Acme Ltd and Mary Smith. Notices are in writing.
The Buyer shall pay USD 1,300.50 within sixty (60) days. The law of France applies.
甲方：上海月光科技有限公司
乙方应于2024年6月1日前支付人民币十二万元。联系人李强。
"""


def test_numbers_dates_and_names_that_differ_are_named_in_both_languages() -> None:
    facts = {
        (fact.kind, fact.before, fact.after)
        for difference in find_differences(BEFORE, AFTER)
        if difference.kind == "changed"
        for fact in difference.facts
    }
    assert facts == {
        ("date", ("3 March 2024",), ("4 March 2024",)),
        ("name", ("Mary Jones",), ("Mary Smith",)),
        ("number", ("USD 1,200.50", "thirty"), ("USD 1,300.50", "sixty")),
        ("name", ("北京星辰科技有限公司",), ("上海月光科技有限公司",)),
        ("number", ("十万元",), ("十二万元",)),
        ("date", ("2024年5月1日",), ("2024年6月1日",)),
        ("name", ("王芳",), ("李强",)),
    }


def test_what_one_side_alone_has_is_added_or_removed() -> None:
    kinds = {(d.kind, d.before, d.after) for d in find_differences(BEFORE, AFTER) if d.kind != "changed"}
    assert kinds == {("removed", "The seller delivers to Berlin.", ""), ("added", "", "The law of France applies.")}


def test_changes_of_facts_come_first() -> None:
    before = "We met as agreed in the hall upstairs. The price is 10 euro."
    after = "We met as planned in the hall upstairs. The price is 11 euro."
    assert [bool(d.facts) for d in find_differences(before, after)] == [True, False]


def test_layout_case_and_width_are_no_difference() -> None:
    text = "The first long sentence of this paragraph goes on and on here. A second one follows after it.\n"
    wrapped = "The first long sentence of this paragraph goes on\nand on here. A second one FOLLOWS after it."
    assert find_differences(text, wrapped) == ()
    assert find_differences("金额为１００元。", "金额为100元。") == ()


def test_a_sentence_elsewhere_is_moved() -> None:
    first, second, third = "One thing is said here.", "Quite another matter stands there.", "Finally comes the end."
    (difference,) = find_differences(f"{first} {second} {third}", f"{second} {third} {first}")
    assert (difference.kind, difference.before) == ("moved", first)


def test_a_new_number_before_a_clause_or_heading_comes_last() -> None:
    before = "7. Law\n7.1 The law of France applies here.\n# 概述\n第三条 甲方应付款。\nThe rent is 10 euro."
    after = "8. Law\n8.1 The law of France applies here.\n# 1. 概述\n第四条 甲方应付款。\nThe rent is 11 euro."
    assert [d.kind for d in find_differences(before, after)] == ["changed", *["renumbered"] * 4]


def test_a_date_or_number_written_another_way_is_no_difference() -> None:
    before = "Signed on 3 March 2024 for EUR 1,200.50 at 5 per cent.\n乙方应于2024年5月1日前支付十万元。"
    after = "Signed on March 3, 2024 for € 1,200.50 at 5 %.\n乙方应于二〇二四年五月一日前支付10万元。"
    assert find_differences(before, after) == ()
    german = ("Die Miete von 1.200,50 EUR ist am 3. März fällig.", "Die Miete von 1200,50 Euro ist am 3. März fällig.")
    assert find_differences(*german) == ()


def test_a_moved_paragraph_is_one_difference() -> None:
    moved = "One thing is said here. A second thing follows it. And a third one closes."
    rest = (
        "Quite another matter stands there. It goes on for a while. Finally comes the end of it all. No more is said."
    )
    (difference,) = find_differences(f"{moved}\n{rest}", f"{rest}\n{moved}")
    assert (difference.kind, difference.before, difference.after) == ("moved", moved, moved)


def test_a_line_that_goes_many_times_is_told_once() -> None:
    rows = [f"| name | value_{name} |\n| takes effect | at restart |\n" for name in ("one", "two", "three", "four")]
    found = find_differences("".join(rows), "".join(row.split("\n")[0] + "\n" for row in rows))
    assert [(d.kind, d.times, d.before) for d in found] == [("removed", 4, "| takes effect | at restart |")]


def test_a_change_in_text_without_ends_stays_where_it_is() -> None:
    words = prose(1, 60).replace(". ", " ").split()
    before = " ".join(words)
    after = " ".join([*words[:100], "inserted", "17", "words", *words[100:]])
    (difference,) = find_differences(before, after)
    assert len(difference.after) < 600
    assert [(fact.kind, fact.after) for fact in difference.facts] == [("number", ("17",))]


TEXTS = st.lists(st.sampled_from(["Ay. ", "Bee five. ", "Sea 7 wide. ", "\n", "丁先生来了。", "Eff"]), max_size=14).map(
    "".join
)


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert find_differences(text, text) == ()


@settings(deadline=None)  # the first Chinese text loads the dictionary
@given(TEXTS, TEXTS)
def test_spans_point_at_what_is_shown(before: str, after: str) -> None:
    for difference in find_differences(before, after):
        if difference.before_span is not None:
            assert difference.before_span.of(before) == difference.before
        if difference.after_span is not None:
            assert difference.after_span.of(after) == difference.after


@given(TEXTS)
def test_sentences_leave_out_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(s.text for s in sentences(text)).split()) == "".join(text.split())
