from __future__ import annotations

from pathlib import Path

from indexer.probe.backgrounds import background_chunks, folder_texts, read_backgrounds
from indexer.settings import Settings
from tests.fakes import FakeEncoder
from tests.probe.test_haystack import CHINESE, ENGLISH


def test_backgrounds_are_told_apart_by_their_characters(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "b.txt").write_text(CHINESE, encoding="utf-8")
    (tmp_path / "c.txt").write_text("Ещё один текст. " * 400, encoding="utf-8")
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    found = read_backgrounds(folder_texts(tmp_path, settings))
    assert found.keys() == {"en", "zh"}
    assert "Ещё" not in found["en"] + found["zh"]


def test_chunks_of_a_background_fit_the_encoder_and_come_from_every_language(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    encoder.max_tokens = 60
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    chunks = background_chunks({"en": ENGLISH, "zh": CHINESE}, encoder, settings, 12)
    assert len(chunks) == 12
    assert max(encoder.count_tokens(chunks)) <= 60
    assert any(chunk in ENGLISH for chunk in chunks)
    assert any(chunk in CHINESE for chunk in chunks)
