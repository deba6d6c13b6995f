from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from indexer.datatypes import Mode
from indexer.library import Library
from indexer.search import SearchOptions, search_library
from indexer.search.means import refresh_means
from indexer.search.relevance import KEY, evidence, is_calibrated, is_relevant, unrelated_questions
from indexer.search.retrieve import Ranking
from tests.search.shelf import fill, new_library

SUBJECTS = {
    "en": (
        *("The cranes of the harbour are painted every spring.", "The tenant pays the rent on the third working day."),
        *("Bicycles are kept in the yard behind the workshop.", "The choir met in the town hall in March."),
        *("Rain fell on nine days in April.", "The valve is greased by a mechanic every month."),
    ),
    "zh": (
        *("港口的起重机每年春天刷一次油漆。", "租户每月第三个工作日支付租金。", "自行车停放在车间后面的院子里。"),
        *("合唱团三月在市政厅开会。", "四月有九天下雨。", "阀门每个月由技工上一次油。"),
    ),
}
TEXTS = {f"/{language}{number}.txt": text for language, some in SUBJECTS.items() for number, text in enumerate(some)}


def ranking(cosine: float, share: float) -> Ranking:
    ids = np.array([1], dtype=np.int64)
    one = np.ones(1, dtype=np.float32)
    return Ranking(ids, ids, one, one, one, cosine * one, share * one)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = new_library(tmp_path / "library")
    fill(library, TEXTS)
    return library


def test_words_count_only_where_they_were_asked_for() -> None:
    assert evidence(ranking(0.4, 0.5), Mode.HYBRID) > evidence(ranking(0.4, 0.0), Mode.HYBRID)
    assert evidence(ranking(0.4, 0.5), Mode.DENSE) == pytest.approx(0.4)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.DENSE])
@pytest.mark.parametrize(
    ("own", "language"), [("when are the cranes of the harbour painted", "en"), ("港口的起重机何时刷油漆", "zh")]
)
def test_most_unrelated_questions_find_nothing(library: Library, mode: Mode, own: str, language: str) -> None:
    options = SearchOptions(mode=mode)
    assert search_library(library, own, options).relevant
    asked = unrelated_questions()[language]
    assert sum(search_library(library, question, options).relevant for question in asked) <= len(asked) / 4


def test_a_language_without_questions_of_its_own_has_the_benefit_of_the_doubt(library: Library) -> None:
    thresholds = library.store.meta_get(KEY)["thresholds"][Mode.DENSE]
    assert {"en", "zh"} <= thresholds.keys()
    lowest = min(thresholds.values())
    assert is_relevant(library, "sw", Mode.DENSE, ranking(lowest + 0.01, 0.0))
    assert not is_relevant(library, "sw", Mode.DENSE, ranking(lowest - 0.01, 0.0))


def test_a_word_for_word_match_is_always_relevant(library: Library) -> None:
    assert is_relevant(library, "en", Mode.HYBRID, ranking(-1.0, 1.0))


def test_a_library_of_an_older_longdoc_is_measured_at_its_next_run(library: Library) -> None:
    with library.write_lock():
        library.store.meta_set(KEY, None)
        assert not is_calibrated(library)
        assert is_relevant(library, "en", Mode.HYBRID, ranking(-1.0, 0.0))
        assert not refresh_means(library)
    assert is_calibrated(library)
