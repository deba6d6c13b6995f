from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from indexer.cli import main
from indexer.doctor import Finding, Level
from tests.fakes import FakeEncoder

LINES = (Finding("machine", "cores", Level.OK, "2 cores"), Finding("engine", "torch", Level.WARN, "old", "Update it."))


def test_doctor_prints_a_screen_with_advice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("indexer.cli.machine.examine", lambda _settings, prove: iter(LINES))
    assert main(["doctor"]) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[:2] == ["machine", "  ok    cores: 2 cores"]
    assert "Update it." in output
    assert "0 to repair, 1 to look at, 1 in order." in output


def test_doctor_prints_one_json_document_and_a_failure_is_exit_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (*LINES, Finding("library", "library", Level.FAIL, "damaged", "Restore it."))
    monkeypatch.setattr("indexer.cli.machine.examine", lambda _settings, prove: iter(lines))
    assert main(["doctor", "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["level"] == "fail"
    assert report["findings"] == [asdict(line) for line in lines]


def test_no_proof_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr("indexer.cli.machine.examine", lambda _settings, prove: asked.append(prove) or iter(LINES))
    assert main(["doctor", "--no-proof"]) == 0
    assert main(["doctor"]) == 0
    assert asked == [False, True]


def test_doctor_of_a_file_names_the_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("indexer.encode.load_encoder", lambda _name, settings: FakeEncoder())
    path = tmp_path / "empty.txt"
    path.write_bytes(b"")
    assert main(["doctor", str(path), "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["culprit"] == "input"
    assert report["whole"] is None
    assert main(["doctor", str(path)]) == 3
    assert "It is the input that goes wrong" in capsys.readouterr().out


def test_doctor_of_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    assert main(["doctor", str(tmp_path / "nothing.pdf")]) == 2
