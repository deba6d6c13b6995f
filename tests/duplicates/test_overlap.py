from __future__ import annotations

from pathlib import Path

from indexer.duplicates import Relation, compare, find_duplicates, overlap_of, write_csv
from tests.building import add_text, make_library
from tests.duplicates.memory import prose


def test_a_new_version_says_how_much_of_it_is_already_there(tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        old = add_text(library.store, prose(1, 40), "/files/old.txt", size=300)
        for seed in range(2, 8):
            add_text(library.store, prose(seed, 40), f"/files/{seed}.txt", size=300)
        new = add_text(library.store, prose(1, 40) + prose(99, 4), "/files/new.txt", size=300)
        (overlap,) = overlap_of(library, new)
    assert (overlap.document_id, overlap.relation) == (old, Relation.VERSION)
    assert 0.85 < overlap.share < 1
    assert overlap.sentence == f"{int(overlap.share * 100)} % of this is already in /files/old.txt."


def test_a_part_of_a_longer_document_is_found_although_their_vectors_differ(tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        whole = add_text(library.store, prose(1, 60) + prose(5, 10) + prose(2, 60), "/files/book.txt", size=300)
        part = add_text(library.store, prose(5, 10), "/files/part.txt", size=300)
        (overlap,) = overlap_of(library, part)
    assert (overlap.document_id, overlap.relation) == (whole, Relation.CONTAINED)
    assert overlap.share > 0.95


def test_the_same_text_in_another_layout_is_named_so(tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        add_text(library.store, prose(1, 40), "/files/a.txt", size=300)
        twin = add_text(library.store, prose(1, 40).replace(". ", ".\n"), "/files/b.txt", size=300)
        (overlap,) = overlap_of(library, twin)
    assert overlap.relation is Relation.SAME_TEXT
    assert overlap.sentence == "This is the same text as '/files/a.txt', in another format or layout."


def test_a_new_subject_overlaps_nothing(tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        add_text(library.store, prose(1, 40), "/files/a.txt", size=300)
        assert overlap_of(library, add_text(library.store, prose(2, 40), "/files/b.txt", size=300)) == ()


def test_a_library_is_searched_compared_and_reported(tmp_path: Path) -> None:
    text = prose(1, 40)
    with make_library(tmp_path) as library:
        a = add_text(library.store, text + "The rent is 900 euro.", "/files/=a.txt", size=300)
        b = add_text(library.store, text + "The rent is 950 euro.", "/files/合同.txt", size=300)
        report = find_duplicates(library)
        (group,) = report.groups
        assert group.relation is Relation.VERSION
        assert [d.facts[0].after for d in compare(library, a, b).differences] == [("950 euro",)]
        write_csv(report, tmp_path / "report.csv")
    table = (tmp_path / "report.csv").read_text(encoding="utf-8-sig")
    assert "/files/合同.txt" in table
    assert table.count("keep") == 2  # the column's name and one document
