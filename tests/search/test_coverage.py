from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from indexer.search import SearchOptions, search_library
from indexer.search.coverage import coverage
from tests.search.shelf import fill, new_library

FILL = "Rooms are swept on Mondays and the windows are cleaned in spring by the same firm. " * 12
TEXTS = {
    "/orion.txt": "The Orion telescope stands on a hill. " + FILL + "Its mirror was polished for eleven months.",
    "/other.txt": "The Lyra telescope stands in a valley. " + FILL + "Its mirror was polished for eleven months.",
    "/zh.txt": "望远镜的镜面磨了十一个月。" + "房间每周一打扫。" * 20,
}


def test_a_name_at_the_top_tells_which_document_is_meant(tmp_path: Path) -> None:
    with new_library(tmp_path / "library") as library:
        ids = fill(library, TEXTS)
        chunks = library.store.chunk_ids()
        owners = library.store.chunk_owner(chunks)
        shares = coverage(library, ["orion", "mirror", "polished"], "en", chunks, owners)
        by_document = {path: set(np.round(shares[owners == one], 6).tolist()) for path, one in ids.items()}
        (orion,) = by_document["/orion.txt"]
        assert orion == pytest.approx(3 / (3 + 24), abs=1e-5)  # all of it, among few documents
        (other,) = by_document["/other.txt"]
        assert 0 < other < orion
        (chinese,) = by_document["/zh.txt"]
        assert other < chinese < orion  # words of another language are no evidence: the mean of the others
        hits = search_library(library, "how long was the mirror of Orion polished", SearchOptions(k=2)).hits
        assert hits[0].document.paths == ("/orion.txt",)
        assert "eleven months" in hits[0].text


def test_terms_that_stand_nowhere_lower_what_is_covered(tmp_path: Path) -> None:
    with new_library(tmp_path / "library") as library:
        fill(library, TEXTS)
        chunks = library.store.chunk_ids()[:1]
        owners = library.store.chunk_owner(chunks)
        assert float(coverage(library, ["orion", "absent"], "en", chunks, owners)[0]) < 0.6 * 3 / 27
        assert coverage(library, [], "en", chunks, owners).tolist() == [0.0]
        assert coverage(library, ["absent"], "en", chunks[:0], owners[:0]).tolist() == []


def test_the_table_of_owners_follows_the_library(tmp_path: Path) -> None:
    with new_library(tmp_path / "library") as library:
        fill(library, {"/orion.txt": TEXTS["/orion.txt"]})
        assert search_library(library, "telescope").hits[0].document.paths == ("/orion.txt",)
        fill(library, {"/other.txt": TEXTS["/other.txt"]})
        chunks = library.store.chunk_ids()
        assert coverage(library, ["lyra"], "en", chunks, library.store.chunk_owner(chunks)).max() > 0
