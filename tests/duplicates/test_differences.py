from __future__ import annotations

from hypothesis import given, settings, strategies as st

from indexer.duplicates.differences import find_differences, sentences

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
        ("number", ("USD 1,200.50", "thirty", "30"), ("USD 1,300.50", "sixty", "60")),
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
