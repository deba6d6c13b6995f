from __future__ import annotations

from pathlib import Path

from indexer.doctor.keeping import examine_keeping, faiss_finding, library_findings, sqlite_finding
from indexer.doctor.report import Level
from indexer.library import Library
from indexer.machine import Processor
from indexer.settings import Settings
from indexer.store import SqliteFacts
from tests.fakes import FakeEncoder

AVX2 = Processor("chip", frozenset({"avx2"}))


def settings_in(folder: Path) -> Settings:
    return Settings(library=folder / "library", cache=folder / "cache")


def test_this_machines_sqlite_and_faiss_are_in_order(tmp_path: Path) -> None:
    lines = list(examine_keeping(settings_in(tmp_path), AVX2))
    assert [line.level for line in lines] == [Level.OK] * 3
    assert "none yet" in lines[-1].text


def test_a_sqlite_without_full_text_search_or_too_old_is_a_failure() -> None:
    assert sqlite_finding(SqliteFacts((3, 45, 0), fulltext=False)).level is Level.FAIL
    assert sqlite_finding(SqliteFacts((3, 31, 1), fulltext=True)).level is Level.FAIL
    assert sqlite_finding(SqliteFacts((3, 45, 0), fulltext=True)).level is Level.OK


def test_a_faiss_without_the_processors_instructions_is_a_warning() -> None:
    assert faiss_finding("1.15.1 GENERIC", AVX2).level is Level.WARN
    assert faiss_finding("1.15.1 GENERIC", Processor("old", frozenset())).level is Level.OK


def test_a_library_is_described_with_its_writer(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with Library.open(settings.library, settings, create=True, write=True, encoder=FakeEncoder()) as library:
        lines = {line.name: line for line in library_findings(settings)}
        assert "0 documents" in lines["library"].text
        assert "fake" in lines["recipe"].text
        assert "writer" not in lines
        with library.write_lock():
            assert "process" in {line.name: line for line in library_findings(settings)}["writer"].text


def test_a_library_that_cannot_be_opened_is_a_failure(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    settings.library.mkdir()
    (settings.library / "library.sqlite3").write_bytes(b"this is no database" * 100)
    (finding,) = library_findings(settings)
    assert finding.level is Level.FAIL
