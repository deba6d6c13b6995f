from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from indexer.datatypes import StoredChunk
from indexer.duplicates import DuplicateOptions, Relation, find_duplicates, overlap_of
from indexer.duplicates.find import find_in
from indexer.duplicates.kept import FILE_NAME, Kept, read_kept, write_kept
from indexer.store import Store
from tests.building import add_text, make_library
from tests.duplicates.memory import MemoryCollection, chinese_prose, prose
from tests.duplicates.test_translations import bilingual


class Counting(MemoryCollection):
    """Counts how often a document's text and chunks are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: Counter[int] = Counter()

    def text(self, document_id: int) -> str:
        self.read[document_id] += 1
        return super().text(document_id)

    def chunks(self, document_id: int) -> list[StoredChunk]:
        self.read[document_id] += 1
        return list(super().chunks(document_id))


def collection_of_pairs() -> Counting:
    collection = Counting()
    for seed in range(12):
        collection.add(prose(seed, 20))
        collection.add(prose(seed, 20) + prose(100 + seed, 4))
    return collection


def run(collection: MemoryCollection, kept: Kept, **options: bool):
    return find_in(collection, DuplicateOptions(**options), lambda what, done, total: None, kept)


def test_a_second_run_reads_nothing_and_says_the_same() -> None:
    collection, kept = collection_of_pairs(), Kept(0.5)
    first = run(collection, kept)
    assert (first.read, first.aligned) == (24, 12)
    collection.read.clear()
    second = run(collection, kept)
    assert (second.read, second.aligned, second.groups) == (0, 0, first.groups)
    assert not collection.read


def test_one_new_document_costs_itself_and_the_one_it_is_like() -> None:
    collection, kept = collection_of_pairs(), Kept(0.5)
    run(collection, kept)
    collection.read.clear()
    new = collection.add(prose(3, 20) + prose(200, 3))
    report = run(collection, kept)
    assert (report.read, report.aligned) == (1, 2)
    assert set(collection.read) == {7, 8, new}
    assert sorted(d.id for d in report.groups[0].documents) == [7, 8, new]


def test_what_becomes_boilerplate_is_judged_again() -> None:
    licence = prose(500, 24)
    collection, kept = MemoryCollection(), Kept(0.5)
    for seed in range(7):
        collection.add(licence + prose(seed, 40))
    assert {group.relation for group in run(collection, kept).groups} == {Relation.SECTION}
    for seed in range(7, 12):
        collection.add(licence + prose(seed, 40))
    assert run(collection, kept).groups == run(collection, Kept(0.5)).groups == ()


def test_only_new_documents_look_for_translations() -> None:
    collection, twins = bilingual(pairs=6, english=12)
    documents, kept = collection.documents(), Kept(0.5)
    late = max(twins.values())
    collection.documents = lambda: [d for d in documents if d.id != late]  # type: ignore[method-assign]  # one is later
    assert len(run(collection, kept).groups) == 5
    assert late not in kept.translated
    collection.documents = lambda: documents  # type: ignore[method-assign]  # now it is there
    assert {(p.a, p.b) for group in run(collection, kept).groups for p in group.pairs} == set(twins.items())


def test_what_is_kept_is_read_again_and_outlives_a_damaged_file(tmp_path: Path) -> None:
    collection, kept = MemoryCollection(), Kept(0.5, "encoder")
    chapter = chinese_prose(1, 30)
    collection.add(chinese_prose(2, 60) + chapter)
    collection.add(chinese_prose(3, 80) + chapter)
    report = run(collection, kept)
    write_kept(tmp_path, kept)
    again = read_kept(tmp_path, 0.5, "encoder")
    assert run(collection, again).groups == report.groups
    assert run(collection, again).aligned == 0
    assert read_kept(tmp_path, 0.7, "encoder").verdicts == {}
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:-9])
    assert read_kept(tmp_path, 0.5, "encoder").prints == {}


def test_an_id_given_to_another_document_is_not_taken_for_the_old_one() -> None:
    kept = Kept(0.5)
    one, other = MemoryCollection(), MemoryCollection()
    for collection, seed in ((one, 1), (other, 2)):
        collection.add(prose(1, 20), sha256="ab" * 32)
        collection.add(prose(seed, 20) + "More.", sha256=f"{seed}{seed}" * 32)
    assert len(run(one, kept).groups) == 1
    assert run(other, kept).groups == ()


def test_a_library_keeps_what_was_found(tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        for seed in (1, 1, 2, 3):
            number = library.store.counts().documents
            add_text(library.store, prose(seed, 30) + str(number), f"/files/{number}.txt", size=300)
        first = find_duplicates(library)
        assert (first.read, len(first.groups)) == (4, 1)
        add_text(library.store, prose(2, 30) + "another end", "/files/new.txt", size=300)
        second = find_duplicates(library)
    assert (second.read, second.aligned, len(second.groups)) == (1, 1, 2)


def test_adding_compares_with_few_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with make_library(tmp_path) as library:
        for seed in range(30):
            add_text(library.store, prose(seed, 12), f"/files/{seed}.txt", size=300)
        new = add_text(library.store, prose(5, 12) + prose(77, 3), "/files/new.txt", size=300)
        library.vectors  # noqa: B018  # caught up before the count begins
        read: set[int] = set()
        whole = Store.document_chunks
        monkeypatch.setattr(Store, "document_chunks", lambda self, i, *rest: read.add(i) or whole(self, i, *rest))
        assert overlap_of(library, new)[0].document_id == 6
    assert len(read - {new}) <= 12
