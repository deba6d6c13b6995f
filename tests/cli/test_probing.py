from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer.cli import main
from indexer.encode import Cost, CostTrial, Limits, Outcome
from tests.fakes import FakeEncoder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGDOC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LONGDOC_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setattr("indexer.cli.probing.load_encoder", lambda _name, settings: FakeEncoder())


def cheap(trial: CostTrial, _limits: Limits) -> Cost:
    return Cost(trial, Outcome.DONE, "", 30_000_000, 1.0, 300.0, trial.length / 1000, trial.length / 100)


def test_growth_prints_a_table_and_writes_what_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("indexer.probe.growth.run_growth.__defaults__", (cheap,))
    files = ["--csv", str(tmp_path / "g.csv"), "--png", str(tmp_path / "g.png")]
    assert main(["probe", "growth", "--models", "all", "--to", "2048", *files]) == 0
    printed = capsys.readouterr()
    assert "bert-30m" in printed.out
    assert "rwkv-30m" in printed.out
    assert "1.00 ± 0.00" in printed.out
    assert "2,048 tokens: done" in printed.err
    assert (tmp_path / "g.csv").read_text().count("\n") == 1 + 10 * 3
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    assert main(["probe", "growth", "--to", "1024", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"][0]["length"] == 512


def test_a_run_that_is_ended_early_keeps_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(trial: CostTrial, limits: Limits) -> Cost:
        if trial.length > 1024:
            raise KeyboardInterrupt
        return cheap(trial, limits)

    monkeypatch.setattr("indexer.probe.growth.run_growth.__defaults__", (ended,))
    assert main(["probe", "growth", "--to", "4096", "--csv", str(tmp_path / "g.csv")]) == 1
    assert "Stopped." in capsys.readouterr().err
    assert (tmp_path / "g.csv").read_text().count("\n") == 1 + 2
    assert len(json.loads((tmp_path / "cache" / "probe" / "growth.json").read_text())["trials"]) == 2


@pytest.mark.parametrize(
    "arguments", [["--precision", "float8"], ["--from", "2048", "--to", "512"], ["--rope-scaling", "cubic:2"]]
)
def test_growth_refuses_what_makes_no_sense(arguments: list[str]) -> None:
    assert main(["probe", "growth", *arguments]) in (1, 2)


def test_needle_runs_on_a_folder_and_keeps_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("The pump was tested on Monday. It ran well.\n" * 200, encoding="utf-8")
    command = ["probe", "needle", "--background", str(folder), "--lengths", "1000,4000", "--depths", "0,100"]
    assert main([*command, "--png", str(tmp_path / "n.png")]) == 0
    assert "chunks, lexical" in capsys.readouterr().out
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "cache" / "probe" / "needle.json").is_file()
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["lengths"] == [1000, 4000]


@pytest.mark.parametrize("arguments", [["--lengths", "many"], ["--lengths", "5"], ["--depths", "0,101"]])
def test_needle_refuses_numbers_out_of_range(arguments: list[str]) -> None:
    assert main(["probe", "needle", *arguments]) == 2
