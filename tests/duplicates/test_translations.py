from __future__ import annotations

import numpy as np

from indexer.datatypes import Matrix
from indexer.duplicates.results import Pair, Relation
from indexer.duplicates.translations import find_translations as find_among
from tests.duplicates.memory import MemoryCollection, chinese_prose, prose

CHUNKS = 6


def find_translations(collection: MemoryCollection) -> list[Pair]:
    documents = collection.documents()
    return list(find_among(collection, documents, {d.id for d in documents}, lambda what, done, total: None))


def unit(rows: np.ndarray) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def bilingual(pairs: int, english: int) -> tuple[MemoryCollection, dict[int, int]]:
    """Chinese documents and their English twins, and English documents without one: each chunk means something else."""
    chance = np.random.default_rng(1)
    language = {"en": 2 * chance.normal(size=48), "zh": 2 * chance.normal(size=48)}
    collection, twins = MemoryCollection(), {}
    for number in range(english):
        meaning = chance.normal(size=(CHUNKS, 48)) + chance.normal(size=48)

        def rows(name: str, meaning: np.ndarray = meaning) -> Matrix:
            return unit(meaning + language[name] + 0.4 * chance.normal(size=meaning.shape))

        here = collection.add(" ".join(prose(number, CHUNKS).split()), size=1, rows=rows("en"), language="en")
        if number < pairs:
            text = chinese_prose(number, CHUNKS).replace("。", "。. ").rstrip(". ")
            twins[here] = collection.add(text, size=1, rows=rows("zh"), language="zh")
    return collection, twins


def test_twins_in_two_languages_are_candidates_and_no_others() -> None:
    collection, twins = bilingual(pairs=8, english=16)
    found = find_translations(collection)
    assert {(pair.a, pair.b) for pair in found} == set(twins.items())
    assert {pair.relation for pair in found} == {Relation.TRANSLATION}
    assert min(pair.in_order for pair in found) == 1.0


def test_one_document_in_another_language_finds_its_twin() -> None:
    collection, twins = bilingual(pairs=1, english=12)
    assert {(pair.a, pair.b) for pair in find_translations(collection)} == set(twins.items())


def test_one_language_has_no_translations() -> None:
    collection, _ = bilingual(pairs=0, english=5)
    assert find_translations(collection) == []


def test_twins_are_found_among_many_documents_of_the_same_subject() -> None:
    chance = np.random.default_rng(3)
    subject, language = chance.normal(size=96), {"en": 2 * chance.normal(size=96), "zh": 2 * chance.normal(size=96)}
    collection, twins = MemoryCollection(), {}
    for number in range(60):
        meaning = subject + 0.7 * chance.normal(size=96) + 0.8 * chance.normal(size=(CHUNKS, 96))
        rows = {name: unit(meaning + mean + 0.3 * chance.normal(size=meaning.shape)) for name, mean in language.items()}
        here = collection.add(" ".join(prose(number, CHUNKS).split()), size=1, rows=rows["en"], language="en")
        text = chinese_prose(number, CHUNKS).replace("。", "。. ").rstrip(". ")
        twins[here] = collection.add(text, size=1, rows=rows["zh"], language="zh")
    found = {(pair.a, pair.b) for pair in find_translations(collection)}
    assert set(twins.items()) <= found
