from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from indexer.errors import LongdocError
from indexer.probe import (
    Measure,
    NeedleOptions,
    NeedleReport,
    NeedleResult,
    missed,
    needle_json,
    needle_picture,
    needle_table,
    run_needle,
)
from indexer.probe.report import needle_from_json
from indexer.settings import Settings
from tests.fakes import FakeEncoder
from tests.probe.test_haystack import CHINESE, ENGLISH


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> NeedleReport:
    folder = tmp_path_factory.mktemp("needle")
    settings = Settings(library=folder / "library", cache=folder / "cache")
    options = NeedleOptions(lengths=(1000, 8000), depths=(0.0, 0.5, 1.0))
    return run_needle({"en": ENGLISH, "zh": CHINESE}, FakeEncoder(), settings, options)


def test_words_find_every_needle_and_every_method_is_asked_for_each(report: NeedleReport) -> None:
    assert report.methods == (
        "chunks, hybrid", "chunks, dense", "chunks, lexical", "one vector, mean", "one vector, max", "first window",
    )  # fmt: skip
    assert len(report.results) == len(report.methods) * 2 * 2 * 3
    assert report.share("chunks, lexical", Measure.CHUNK) == 1.0


def test_the_first_window_loses_what_stands_at_the_end(report: NeedleReport) -> None:
    ranks = {
        (result.length, result.depth, result.language): result.document_rank
        for result in report.results
        if result.method == "first window"
    }
    assert max(ranks[1000, 0.0, "en"], ranks[1000, 0.0, "zh"]) <= 3
    assert ranks[8000, 0.0, "en"] < ranks[8000, 1.0, "en"]
    assert all(result.chunk_rank is None for result in report.results if result.method == "first window")


def test_a_report_is_drawn_tabled_and_read_back(report: NeedleReport) -> None:
    assert report.grid("chunks, lexical", Measure.CHUNK).shape == (3, 2)
    chunks, documents = (needle_table(report, measure) for measure in Measure)
    assert chunks[0] == ["ITS CHUNK WITHIN THE FIRST 3", "1,000", "8,000", "EN", "ZH", "ALL"]
    assert [line[0] for line in chunks[1:]] == list(report.methods[:3])
    assert [line[0] for line in documents[1:]] == list(report.methods)
    assert chunks[3][-1] == "100%"
    assert missed(report, "chunks, lexical", Measure.CHUNK) == []
    assert needle_picture(report).startswith(b"\x89PNG")
    assert needle_from_json(json.loads(json.dumps(needle_json(report)))) == report


def test_what_counts_as_found() -> None:
    for chunk_rank, found in ((1, True), (3, True), (4, False), (None, False)):
        assert NeedleResult("chunks, dense", "en", 1000, 0.5, chunk_rank, 9).found(Measure.CHUNK) is found
    for document_rank, found in ((1, True), (2, False), (None, False)):
        for method in ("chunks, dense", "one vector, mean"):
            assert NeedleResult(method, "en", 1000, 0.5, None, document_rank).found(Measure.DOCUMENT) is found
    assert math.isnan(NeedleReport((), 0).share("chunks, dense", Measure.CHUNK))


def test_several_seeds_are_asked_one_after_the_other_and_share_embeddings(tmp_path: Path) -> None:
    settings, encoder = Settings(library=tmp_path / "library", cache=tmp_path / "cache"), FakeEncoder()
    options = NeedleOptions(lengths=(6000,), depths=(0.0, 1.0), seeds=(1, 2, 3))
    report = run_needle({"en": ENGLISH}, encoder, settings, options)
    assert len(report.results) == len(report.methods) * 2 * 3
    assert report.documents == 1
    assert report.share("chunks, lexical", Measure.CHUNK) == 1.0


def test_too_little_text_is_said(tmp_path: Path) -> None:
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    with pytest.raises(LongdocError, match="too little text"):
        run_needle({}, FakeEncoder(), settings, NeedleOptions())
