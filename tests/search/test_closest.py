from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.datatypes import Hit, Matrix
from indexer.library import Library
from indexer.search import search_library as search
from indexer.search.closest import closest_sentences
from tests.fakes import FakeEncoder
from tests.search.shelf import fill, new_library

ENGLISH = "# Notices\nThe lift is out of order. Whoever arrives late must pay ten coins. Dogs stay outside."
CHINESE = "电梯正在维修。迟到的人须付十枚硬币。狗留在外面。"


class Translating(FakeEncoder):
    """Takes a question for its answer in other words, as a real encoder does more or less."""

    MEANT = {
        "fines for unpunctual people": "arrives late must pay ten coins",
        "罚款": "迟到的人须付十枚硬币",
    }

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        return super().encode_query([self.MEANT.get(text, text) for text in texts])


def shown(library: Library, query: str, path: str) -> tuple[Hit, str]:
    (hit,) = (hit for hit in search(library, query).hits if hit.document.paths == (path,))
    return hit, hit.sentence.of(hit.text) if hit.sentence else ""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = new_library(tmp_path, Translating(256))
    fill(library, {"/one.txt": ENGLISH, "/two.txt": CHINESE, "/three.txt": "One line alone\n"})
    return library


@pytest.mark.parametrize(
    ("query", "path", "sentence"),
    [
        ("fines for unpunctual people", "/one.txt", "Whoever arrives late must pay ten coins."),
        ("罚款", "/two.txt", "迟到的人须付十枚硬币。"),
        ("罚款", "/three.txt", "One line alone"),
    ],
)
def test_without_a_word_the_sentence_nearest_in_meaning_is_shown(library, query, path, sentence):
    hit, chosen = shown(library, query, path)
    assert chosen == sentence
    assert not hit.highlights
    assert hit.page == 1
    assert hit.page_label == "i"


def test_words_decide_where_there_are_any(library):
    library.encoder.encoded.clear()
    assert shown(library, "dogs", "/one.txt")[1] == "Dogs stay outside."
    assert not [text for text in library.encoder.encoded if text in ENGLISH]


def test_no_more_is_encoded_than_there_is_time_for(library):
    hits = [replace(hit, sentence=None) for hit in search(library, "fines for unpunctual people").hits]
    rows = library.encoder.encode_query(["罚款"])
    assert len(closest_sentences(library, hits, rows)) == len(hits) == 3
    found = closest_sentences(library, hits, rows, budget=0)
    assert len([hit for hit in hits if hit.chunk_id in found and hit.document.title != "three"]) == 1
