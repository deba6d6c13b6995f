from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.doctor import document
from indexer.doctor.document import Listener, Measured, examine_document, model_finding, verdict
from indexer.doctor.inputs import text_findings
from indexer.doctor.report import Diagnosis, Finding, Level
from indexer.settings import Settings
from tests.fakes import FakeEncoder

SETTINGS = Settings(library=Path("library"), cache=Path("cache"))


@pytest.fixture(autouse=True)
def _quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document.psutil, "getloadavg", lambda: (0.0, 0.0, 0.0))


def test_a_sound_document_is_walked_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "minutes.txt"
    path.write_text("The committee met on Monday and agreed on the price of pumps. " * 400)
    announced: list[str] = []
    found: list[Finding] = []
    result = examine_document(path, SETTINGS, FakeEncoder(), Listener(announced.append, found.append))
    assert result.culprit is None, result.diagnosis
    assert tuple(found) == result.diagnosis.findings
    layers = dict.fromkeys(finding.layer for finding in result.diagnosis.findings)
    assert list(layers) == ["input", "environment", "parameters", "model"]
    assert result.whole is not None
    assert result.whole.chunks == result.chunks > document.SAMPLE_CHUNKS
    assert result.sample is not None
    assert result.sample.chunks == document.SAMPLE_CHUNKS
    assert announced[0] == "reading"
    assert "Nothing is wrong" in verdict(result)


def test_a_file_that_cannot_be_read_is_named_as_the_input(tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing follows")
    result = examine_document(path, SETTINGS, FakeEncoder())
    assert result.culprit == "input"
    assert result.whole is None
    assert verdict(result).startswith("It is the input that goes wrong")


def test_chunks_wider_than_the_encoder_are_cut_as_add_does_and_named_as_parameters(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("Many words stand here. " * 600)
    encoder = FakeEncoder()
    encoder.max_tokens = 100
    result = examine_document(path, replace(SETTINGS, chunk_tokens=192), encoder)
    assert result.culprit == "parameters"
    assert "takes 100 tokens" in verdict(result)
    assert max(encoder.count_tokens(encoder.encoded)) <= 100


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "gb18030", "big5", "utf-8-sig"])
def test_a_text_in_any_encoding_is_looked_into(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "alt.txt"
    path.write_bytes(("供應商應當按期交貨。\u3000付款後三十日內驗收。\n\n" * 50).encode(encoding))
    result = examine_document(path, SETTINGS, FakeEncoder())
    lines = {finding.name: finding for finding in result.diagnosis.findings}
    assert result.culprit is None, result.diagnosis
    assert "50% of them blank" in lines["lines"].text
    assert lines["encoding"].text.replace("_", "-").startswith(encoding[:4])


def test_the_whole_is_encoded_for_so_many_seconds_at_most(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("".join(f"Sentence {number} tells of pumps and valves. " for number in range(3000)))
    result = examine_document(path, SETTINGS, FakeEncoder(), seconds=0.0001)
    assert result.whole is not None
    assert result.whole.chunks == FakeEncoder().batch < result.whole.of == result.chunks
    assert result.whole.expected > result.whole.seconds
    assert "stopped at the limit of time" in result.diagnosis.findings[-1].text


def test_a_busy_machine_is_named_as_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document.psutil, "getloadavg", lambda: (99.0, 0.0, 0.0))
    path = tmp_path / "note.txt"
    path.write_text("A short note about the order of pumps and their late delivery.")
    assert examine_document(path, SETTINGS, FakeEncoder()).culprit == "environment"


def test_hidden_characters_and_odd_breaks_are_counted() -> None:
    lines = {line.name: line for line in text_findings("a\u200bb\u00ad\x01\rc\u2028d\n\n\n")}
    assert lines["hidden characters"].text.startswith("2 invisible, 1 control (cleaned away), 0 replacement")
    assert "3 usual, 2 odd" in lines["line breaks"].text
    assert lines["hidden characters"].level is Level.OK


def test_a_text_full_of_lost_characters_is_a_warning() -> None:
    lines = {line.name: line for line in text_findings("\ufffd" * 10 + "text" * 20)}
    assert lines["hidden characters"].level is Level.WARN


def test_a_pace_that_breaks_down_is_a_warning() -> None:
    sample = Measured(16, 1600, 1.0, 2.0, 500.0, 16, 1.0)
    assert (
        model_finding("the whole", Measured(100, 10_000, 15.0, 1.0, 900.0, 100, 1.0), before=sample).level is Level.WARN
    )
    assert model_finding("the whole", Measured(100, 10_000, 7.0, 2.0, 900.0, 100, 1.0), before=sample).level is Level.OK


def test_a_failure_counts_before_an_earlier_warning() -> None:
    diagnosis = Diagnosis(
        (
            Finding("input", "text", Level.WARN, "some missing"),
            Finding("model", "window", Level.FAIL, "too long", "Shorten."),
        )
    )
    result = document.DocumentDiagnosis(Path("x"), diagnosis, 1, 1, None, None)
    assert result.culprit == "model"
    assert verdict(result) == "It is the model that goes wrong: window, too long. Shorten."
