from __future__ import annotations

import pytest

from indexer.duplicates.facts import facts_that_differ, in_one_form
from indexer.duplicates.values import date_value, han_number, number_value


@pytest.mark.parametrize(
    "text",
    ["3 March 2024", "March 3, 2024", "3rd day of March 2024", "3. März 2024", "03.03.2024", "3.3.24", "2024-03-03",
     "2024/3/3", "2024年3月3日", "2024 年 3 月 3 号", "二〇二四年三月三日"],
)  # fmt: skip
def test_one_day_has_one_value_however_it_is_written(text: str) -> None:
    assert date_value(text) == "2024-3-3"


def test_what_may_be_two_days_stays_as_it_is_written() -> None:
    assert date_value("03/04/2024") == "03/04/2024"
    assert date_value("23/04/2024") == "2024-4-23"
    assert date_value("May 2024") == "2024-5-?"
    assert date_value("5月1日") == "?-5-1"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,200.50", "1200.5"), ("1.200,50", "1200.5"), ("USD 1,200", "1200 USD"), ("€1,200", "1200 EUR"),
     ("1.200.000 EUR", "1200000 EUR"), ("1.2 million", "1200000"), ("1,2 Mio.", "1200000"), ("5 per cent", "5 %"),
     ("5 Prozent", "5 %"), ("5%", "5 %"), ("百分之五", "5 %"), ("0,5 %", "0.5 %"), ("thirty", "30"),
     ("twenty-five", "25"), ("eighteen", "18"), ("achtzig", "80"),
     ("fünfundzwanzig", "25"), ("two hundred and five", "205"), ("十万元", "100000 CNY"), ("10万元", "100000 CNY"),
     ("100,000元", "100000 CNY"), ("壹拾贰万圆", "120000 CNY"), ("FS-2024-017", "fs-2024-017"), ("6.1", "6.1")],
)  # fmt: skip
def test_one_number_has_one_value_however_it_is_written(text: str, value: str) -> None:
    assert number_value(text) == value


def test_a_german_point_before_three_digits_separates_thousands() -> None:
    assert number_value("1.200", german=True) == "1200"
    assert number_value("1.200") == "1.2"


def test_chinese_numerals() -> None:
    assert [han_number(text) for text in ("十", "十二", "二十", "一百零五", "三万五千", "一亿二千万", "二〇二四")] == [
        10, 12, 20, 105, 35_000, 120_000_000, 2024,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        ("Die Miete beträgt 1.200 EUR und ist bis zum 3. März 2024 fällig.",
         "Die Miete beträgt 1.350 EUR und ist bis zum 03.03.2024 fällig.", [("number", "1.200 EUR", "1.350 EUR")]),
        ("Ansprechpartnerin für den Käufer ist Frau Anna Berger.",
         "Ansprechpartnerin für den Käufer ist Frau Eva Lang.",
         [("name", "Frau Anna Berger", "Frau Eva Lang")]),
        ("Payment is due within thirty (30) days.", "Payment is due within 45 days.", [("number", "thirty", "45")]),
        ("乙方应于2024年5月1日前支付十万元。", "乙方应于二〇二四年五月一日前支付12万元。",
         [("number", "十万元", "12万元")]),
    ],
)  # fmt: skip
def test_facts_differ_by_what_they_say(before: str, after: str, facts: list[tuple[str, str, str]]) -> None:
    found = [(fact.kind, *fact.before, *fact.after) for fact in facts_that_differ(before, after)]
    assert found == facts


def test_columns_and_lines_do_not_run_together_to_a_name() -> None:
    before = "Margaret Ashby          Lars Holm\nSales Director"
    after = "Margaret Ashby          Karin Lind\nSales Director"
    (fact,) = facts_that_differ(before, after)
    assert (fact.before, fact.after) == (("Lars Holm Sales Director",), ("Karin Lind Sales Director",))


def test_another_way_to_write_it_is_no_difference() -> None:
    assert in_one_form("due on 3 March 2024", False).split() == in_one_form("due on March 3, 2024", False).split()
