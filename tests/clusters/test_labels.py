from __future__ import annotations

import pytest

from indexer.clusters.labels import TermCounts, as_written, telling_terms, terms
from indexer.words import HAN


def test_terms_are_words_and_phrases_without_stop_words_numbers_and_possessives() -> None:
    found = set(terms("The minister's speech of 2024 on housing policy, and the 17 others."))
    assert {"minister", "speech", "housing", "policy", "housing policy", "minister speech"} == found


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("Die Wartung der Pumpe wird nach zwölf Monaten fällig", {"die", "der", "wird", "nach"}),
        ("La livraison des pompes est faite par le fournisseur", {"des", "est", "par"}),
        ("大学的学生在北京时间参加了考试", {"的", "在", "了", "北京时间"}),
    ],
)
def test_words_that_say_nothing_are_left_out_in_other_languages(text: str, left_out: set[str]) -> None:
    found = set(terms(text))
    assert found
    assert not left_out & found
    assert all(len(term) > 1 for term in found)


def test_names_are_written_as_the_texts_write_them() -> None:
    texts = ["Tony Blair met the MPs. Growth was slow.", "The BBC asked TONY BLAIR about growth.", "Tony\nBlair left."]
    found = ("tony blair", "bbc", "mps", "growth", "电影")
    assert as_written(found, texts) == ("Tony Blair", "BBC", "MPs", "growth", "电影")


def test_a_phrase_takes_the_place_of_its_words() -> None:
    sport = TermCounts.of([f"The six nations match number {n} was close" for n in range(6)])
    other = TermCounts.of([f"The court heard witness statement {n}" for n in range(6)])
    best = telling_terms([sport, other])
    assert "six nations" not in best[0]  # a number word says nothing
    assert any("nations" in term for term in best[0])
    assert not any(term in ("court", "witness") for term in best[0])


def test_a_cluster_of_two_languages_is_named_in_both() -> None:
    english = [
        f"Engineers replace the worn seal of pump {n} before the {word} bearing and its {word} housing are inspected."
        for n, word in enumerate(["upper", "lower", "outer", "inner", "front", "rear"])
    ]
    chinese = [f"维修人员更换水泵{n}的密封，检查水泵轴承，水泵密封更换以后试运行。" for n in range(6)]
    other = TermCounts.of([f"The court heard witness statement {n} about the contract" for n in range(6)])
    mixed, _ = telling_terms([TermCounts.of([*english, *chinese]), other])
    assert {bool(HAN.search(term)) for term in mixed[:3]} == {True, False}


def test_a_few_foreign_words_do_not_name_a_cluster() -> None:
    chinese = [f"球队在联赛中获胜，教练称赞球员，球员感谢教练。NBA 第{n}场" for n in range(6)]
    other = TermCounts.of([f"法院听取证人陈述，法官宣布判决{n}" for n in range(6)])
    best, _ = telling_terms([TermCounts.of(chinese), other])
    assert sum(bool(HAN.search(term)) for term in best[:3]) >= 2


def test_chinese_words_that_name_nothing_are_no_labels() -> None:
    texts = [f"维修人员真的发生了变化，即将更换水泵密封，真的即将更换水泵{n}" for n in range(6)]
    other = TermCounts.of([f"法院听取证人陈述，法官宣布判决{n}" for n in range(6)])
    best, _ = telling_terms([TermCounts.of(texts), other])
    assert not {"真的", "即将"} & set(best)
    assert any("水泵" in term for term in best[:3])
