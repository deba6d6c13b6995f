from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from indexer.errors import LongdocError
from indexer.probe import (
    NeedleOptions,
    NeedleReport,
    NeedleResult,
    needle_json,
    needle_picture,
    needle_table,
    run_needle,
)
from indexer.probe.needle import folder_texts, read_backgrounds
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
    assert report.share("chunks, lexical") == 1.0


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
    assert report.grid("chunks, lexical").shape == (3, 2)
    assert needle_table(report)[0] == ["METHOD", "1,000", "8,000", "ALL"]
    assert needle_table(report)[3][-1] == "100%"
    assert needle_picture(report).startswith(b"\x89PNG")
    assert needle_from_json(json.loads(json.dumps(needle_json(report)))) == report


def test_what_counts_as_found() -> None:
    assert NeedleResult("chunks, dense", "en", 1000, 0.5, 3, 1).found
    assert not NeedleResult("chunks, dense", "en", 1000, 0.5, 4, 1).found
    assert not NeedleResult("chunks, dense", "en", 1000, 0.5, None, 1).found
    assert NeedleResult("one vector, mean", "en", 1000, 0.5, None, 1).found
    assert not NeedleResult("one vector, mean", "en", 1000, 0.5, None, 2).found
    assert math.isnan(NeedleReport((), 0).share("chunks, dense"))


def test_backgrounds_are_told_apart_by_their_characters(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "b.txt").write_text(CHINESE, encoding="utf-8")
    (tmp_path / "c.txt").write_text("Ещё один текст. " * 400, encoding="utf-8")
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    found = read_backgrounds(folder_texts(tmp_path, settings))
    assert found.keys() == {"en", "zh"}
    assert "Ещё" not in found["en"] + found["zh"]


def test_too_little_text_is_said(tmp_path: Path) -> None:
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    with pytest.raises(LongdocError, match="too little text"):
        run_needle({}, FakeEncoder(), settings, NeedleOptions())
