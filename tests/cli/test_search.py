from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexer.cli import longdoc
from indexer.library import Library
from tests.fakes import FakeEncoder
from tests.search.shelf import fill, new_library

TEXTS = {
    "supply.txt": "# Penalties\nThe supplier pays a penalty for late delivery of pump PPR-9087. "
    + "Boxes are packed. " * 40,
    "manual.txt": "The pump is greased every month by the mechanic. " + "Handles are turned slowly. " * 20,
    "合同.txt": "供应商迟交货物时须支付违约金。" + "货物装在木箱里。" * 20,
    "evil.txt": "The \x1b[31mred\x1b[0m harbour \u202ereversed <script> crane.",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with new_library(tmp_path / "library") as library:
        fill(library, {str(tmp_path / "papers" / name): text for name, text in TEXTS.items()})
    monkeypatch.setattr(Library, "encoder", property(lambda self: FakeEncoder(256)))

    def search(*arguments: str) -> Result:
        return CliRunner().invoke(longdoc, ["--library", str(tmp_path / "library"), "search", *arguments])

    return search


def test_a_person_reads_title_place_and_passage(run) -> None:
    result = run("penalty for late delivery", "-k", "2")
    assert result.exit_code == 0, result.output
    first = result.stdout.split(" 2. ")[0]
    assert first.startswith(" 1. supply")
    assert "Penalties" in first
    assert "page i" in first
    assert "papers/supply.txt" in first
    assert "pays a penalty for late delivery" in first


def test_json_is_one_document_after_the_contract(run) -> None:
    result = run("late", "delivery", "--json", "-k", "3")
    printed = json.loads(result.stdout)
    assert {"query", "mode", "hits", "seconds", "warnings"} <= printed.keys()
    assert printed["query"] == "late delivery"
    hit = printed["hits"][0]
    assert {"rank", "score", "document", "page", "start", "end", "text", "highlights", "why"} <= hit.keys()
    assert {"id", "title", "paths"} <= hit["document"].keys()
    assert {"dense", "lexical"} == hit["why"].keys()
    assert [hit["text"][start:end] for start, end in hit["highlights"]] == ["late", "delivery"]


def test_modes_groups_and_filters(run) -> None:
    for mode in ("hybrid", "dense", "lexical"):
        assert json.loads(run("违约金", "--mode", mode, "--json").stdout)["mode"] == mode
    assert len(json.loads(run("pump", "--by", "chunk", "--json", "-k", "4").stdout)["hits"]) == 4
    only = json.loads(run("pump", "--where", "language=zh", "--json").stdout)["hits"]
    assert {hit["document"]["title"] for hit in only} == {"合同"}
    assert json.loads(run("违约金", "--across", "--json").stdout)["mode"] == "dense"


def test_what_cannot_be_understood_is_one_sentence(run) -> None:
    result = run("pump", "--where", "colour=red")
    assert result.exit_code == 1 or "colour" in str(result.exception)
    assert run("pump", "--mode", "magic").exit_code == 2
    assert run("?!").exit_code == 0
    assert "no word to look for" in run("?!").stderr


def test_a_document_cannot_steer_the_terminal(run) -> None:
    shown = run("harbour crane").stdout
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown
    assert "<script>" in shown
