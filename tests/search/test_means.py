from __future__ import annotations

from pathlib import Path

from indexer.search import SearchOptions, search_library
from indexer.search.means import questions, refresh_means
from indexer.search.relevance import unrelated_questions
from tests.search.shelf import fill, new_library, put

ENGLISH = [f"Note {number} speaks of the harbour, its cranes and the {number} ships that came." for number in range(12)]
CHINESE = [f"第{number}份记录讲到港口、起重机和到来的{number}艘船。" for number in range(12)]


def test_means_are_estimated_when_a_language_has_doubled_and_not_before(tmp_path: Path) -> None:
    with new_library(tmp_path / "library") as library, library.write_lock():
        assert not refresh_means(library)  # nothing to estimate from
        for number, text in enumerate(ENGLISH[:6]):
            put(library, f"/{number}.txt", text)
        assert refresh_means(library)
        first = library.means.version
        assert not refresh_means(library)
        put(library, "/6.txt", ENGLISH[6])
        assert not refresh_means(library)
        assert library.means.version == first
        for number, text in enumerate(CHINESE[:3]):
            put(library, f"/zh{number}.txt", text)
        assert refresh_means(library)
        assert {"en", "zh"} <= set(library.means.languages)
        assert library.means.version != first


def test_what_has_nothing_to_do_with_the_library_is_said_to_be_so(tmp_path: Path) -> None:
    with new_library(tmp_path / "library") as library:
        fill(library, {f"/{number}.txt": text for number, text in enumerate(ENGLISH + CHINESE)})
        found = search_library(library, "cranes of the harbour")
        assert found.relevant
        assert not found.suggestions
        absent = search_library(library, "tulips xylophone quarterback")
        assert not absent.relevant
        assert "Nothing relevant" in absent.warnings[0]
        assert absent.suggestions
        assert (
            "Search without the filters."
            in search_library(library, "tulips xylophone", SearchOptions(where=("language=zh",))).suggestions
        )


def test_the_questions_are_many_and_in_their_languages() -> None:
    assert {"en", "zh", "de", "fr", "es", "ja", "ko"} <= questions().keys()
    assert all(len(set(listed)) == len(listed) >= 10 for listed in questions().values())
    assert {"en", "zh", "de", "ja", "fr", "es"} <= unrelated_questions().keys()
    assert all(len(set(listed)) >= 20 for listed in unrelated_questions().values())
