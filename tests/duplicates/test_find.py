from __future__ import annotations

import random

import pytest

from indexer.duplicates.find import DuplicateOptions, compare_in, find_in, with_translations
from indexer.duplicates.results import DuplicateReport, Pair, Relation
from tests.duplicates.memory import MemoryCollection, chinese_prose, prose

LICENCE = (
    "Permission is granted to whoever obtains this work to use, copy, change and pass it on under the terms below. "
    "The work comes as it is, without any warranty, express or implied, of fitness for any purpose whatever. "
    "In no event shall the authors be liable for any claim or damage that arises from the work or its use. "
) * 3


def find(collection: MemoryCollection, **options: object) -> DuplicateReport:
    return find_in(collection, DuplicateOptions(**options), lambda what, done, total: None)  # type: ignore[arg-type]


def relations(report: DuplicateReport) -> dict[tuple[int, int], Relation]:
    return {(min(p.a, p.b), max(p.a, p.b)): p.relation for group in report.groups for p in group.pairs}


def test_unrelated_documents_make_no_group() -> None:
    collection = MemoryCollection()
    for seed in range(6):
        collection.add(prose(seed))
    report = find(collection)
    assert report.groups == ()
    assert report.compared == 6


def test_one_document_at_two_paths_is_identical() -> None:
    collection = MemoryCollection()
    number = collection.add(prose(1), paths=("/a/x.pdf", "/b/y.pdf"))
    (group,) = find(collection).groups
    assert (group.relation, group.keep, group.similarity) == (Relation.IDENTICAL, number, 1.0)
    assert group.documents[0].paths == ("/a/x.pdf", "/b/y.pdf")


@pytest.mark.parametrize("text", [prose(1), chinese_prose(1)], ids=["latin", "chinese"])
def test_another_layout_is_the_same_text(text: str) -> None:
    collection = MemoryCollection()
    collection.add(text)
    collection.add(text.replace(". ", ".\n\n").replace("。", "。\n").upper(), size=333)
    (group,) = find(collection).groups
    assert group.relation is Relation.SAME_TEXT
    assert group.pairs[0].share_a_in_b == group.pairs[0].share_b_in_a == 1.0


def test_page_furniture_of_one_format_keeps_the_text_the_same() -> None:
    sentences = prose(1, 60).split(". ")
    collection = MemoryCollection()
    collection.add(". ".join(sentences))
    pages = [". ".join(sentences[start : start + 15]) for start in range(0, 60, 15)]
    collection.add(".\n".join(f"Supply contract, page {number} of 4\n{page}" for number, page in enumerate(pages, 1)))
    assert [group.relation for group in find(collection).groups] == [Relation.SAME_TEXT]


def test_one_number_changed_makes_versions_and_never_the_same() -> None:
    text = prose(1) + "The buyer pays 1,200 euro within thirty days. " + prose(2)
    collection = MemoryCollection()
    a, b = collection.add(text), collection.add(text.replace("1,200", "1,300"))
    (group,) = find(collection).groups
    assert group.relation is Relation.VERSION
    (difference,) = compare_in(collection, collection.document(a), collection.document(b)).differences
    assert difference.kind == "changed"
    assert [(fact.kind, fact.before, fact.after) for fact in difference.facts] == [
        ("number", ("1,200 euro",), ("1,300 euro",))
    ]


@pytest.mark.parametrize("write", [prose, chinese_prose])
def test_a_short_document_inside_a_long_one_is_contained(write: object) -> None:
    assert callable(write)
    short = write(7, 12)
    collection = MemoryCollection()
    whole = collection.add(write(1, 150) + short + write(2, 150))
    part = collection.add(short)
    for seed in range(10, 20):
        collection.add(write(seed))
    (group,) = find(collection).groups
    (pair,) = group.pairs
    assert (group.relation, pair.a, pair.b, group.keep) == (Relation.CONTAINED, part, whole, whole)
    assert pair.share_a_in_b > 0.98
    assert pair.share_b_in_a < 0.1


@pytest.mark.parametrize("write", [prose, chinese_prose])
def test_two_long_documents_that_share_a_chapter_share_a_section(write: object) -> None:
    assert callable(write)
    chapter = write(7, 30)
    collection = MemoryCollection()
    a = collection.add(write(1, 150) + chapter + write(2, 150))
    b = collection.add(write(3, 60) + chapter + write(4, 240))
    for seed in range(10, 16):
        collection.add(write(seed))
    (group,) = find(collection).groups
    (pair,) = group.pairs
    assert (group.relation, pair.a, pair.b) == (Relation.SECTION, a, b)
    assert "keep them all" in group.reason
    (section,) = pair.sections
    inside = "".join(s.chunk.text for s in collection.chunks(a)[section.first_a : section.last_a + 1])
    there = "".join(s.chunk.text for s in collection.chunks(b)[section.first_b : section.last_b + 1])
    assert chapter[20:-20] in inside
    assert chapter[20:-20] in there
    assert 0.05 < pair.share_a_in_b < 0.2


def test_a_few_shared_sentences_are_no_section() -> None:
    collection = MemoryCollection()
    collection.add(prose(1, 150) + prose(7, 6) + prose(2, 150))
    collection.add(prose(3, 150) + prose(7, 6) + prose(4, 150))
    assert find(collection).groups == ()


def test_a_shared_licence_is_boilerplate_and_no_duplicate() -> None:
    collection = MemoryCollection()
    for seed in range(12):
        collection.add(LICENCE + prose(seed, 8))
    report = find(collection)
    assert report.groups == ()
    assert report.boilerplate[0].documents == 12
    assert "Permission is granted" in report.boilerplate[0].text


def test_versions_under_a_shared_licence_are_still_found() -> None:
    collection = MemoryCollection()
    for seed in range(12):
        collection.add(LICENCE + prose(seed, 8))
    collection.add(LICENCE + prose(3, 8).replace("ba", "bo", 3))
    assert relations(find(collection)) == {(4, 13): Relation.VERSION}


def test_many_versions_of_one_document_are_a_family_and_not_boilerplate() -> None:
    collection = MemoryCollection()
    base = prose(1, 60)
    for number in range(15):
        collection.add(base + prose(100 + number, 6))
    (group,) = find(collection).groups
    assert len(group.documents) == 15
    assert len(group.pairs) == 105
    assert group.through is None


def test_groups_never_merge_through_a_third_document() -> None:
    sentences = prose(1, 90).split(". ")
    collection = MemoryCollection()
    a = collection.add(". ".join(sentences[:50]))
    b = collection.add(". ".join(sentences[14:64]))
    c = collection.add(". ".join(sentences[28:78]))
    groups = {(tuple(d.id for d in group.documents), group.relation) for group in find(collection).groups}
    assert groups == {((a, b), Relation.VERSION), ((b, c), Relation.VERSION), ((a, c), Relation.SECTION)}


def test_a_family_of_many_shows_through_whom_its_members_hang_together() -> None:
    collection = MemoryCollection()
    base = prose(1, 60)
    for number in range(60):
        collection.add(base + prose(100 + number, 3))
    report = find(collection)
    members = {document.id for document in report.groups[0].documents}
    assert members == set(range(1, 61))
    centre = report.groups[0].through
    compared = {pair.a + pair.b - centre for pair in report.groups[0].pairs if centre in (pair.a, pair.b)}
    assert compared == members - {centre}


def test_scattered_edits_lower_the_shares_and_not_the_relation() -> None:
    chance = random.Random(5)
    sentences = prose(1, 80).split(". ")
    edited = [s if chance.random() > 0.2 else prose(1000 + i, 1).strip(". ") for i, s in enumerate(sentences)]
    collection = MemoryCollection()
    collection.add(". ".join(sentences))
    collection.add(". ".join(edited), size=500)
    (group,) = find(collection).groups
    assert group.relation is Relation.VERSION
    assert 0.6 < group.pairs[0].share_a_in_b < 0.95
    assert group.pairs[0].in_order == 1.0


def test_the_same_text_twice_gives_the_same_report() -> None:
    collection = MemoryCollection()
    for seed in (1, 1, 2, 3, 3):
        collection.add(prose(seed) + str(seed))
    first, second = find(collection), find(collection)
    assert first.groups == second.groups


def test_empty_and_tiny_documents_are_no_trouble() -> None:
    collection = MemoryCollection()
    for text in ("", "a", "a", "short one", "。"):
        collection.add(text)
    find(collection)
    assert find(MemoryCollection()).groups == ()


def test_a_translation_says_more_of_two_documents_than_a_section_and_less_than_a_version() -> None:
    def pair(a: int, b: int, relation: Relation) -> Pair:
        return Pair(a, b, relation, similarity=0.3, share_a_in_b=0.3, share_b_in_a=0.3, in_order=1.0, shared_chunks=2)

    by_text = [pair(1, 2, Relation.SECTION), pair(3, 4, Relation.VERSION), pair(5, 6, Relation.SECTION)]
    by_meaning = [pair(2, 1, Relation.TRANSLATION), pair(3, 4, Relation.TRANSLATION), pair(7, 8, Relation.TRANSLATION)]
    assert with_translations(by_text, by_meaning) == [by_text[1], by_text[2], by_meaning[0], by_meaning[2]]
