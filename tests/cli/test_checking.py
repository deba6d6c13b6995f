from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Longdoc


@pytest.fixture
def library(longdoc: Longdoc, tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in {"a.txt": "The quick brown fox jumps. ", "b.txt": "The pump is drained before winter. "}.items():
        (folder / name).write_text(text * 40)
    longdoc("add", folder)
    return tmp_path / "library"


def test_verify_says_that_all_is_whole(longdoc: Longdoc, library: Path) -> None:
    outcome = longdoc("verify")
    assert (outcome.code, outcome.out) == (0, "")
    assert "All 2 documents are whole." in outcome.err
    assert longdoc("verify", "--json").json == {
        "sound": True, "documents": 2, "affected": [], "repaired": [], "findings": []
    }  # fmt: skip


def test_verify_encodes_a_sample_again(longdoc: Longdoc, library: Path) -> None:
    outcome = longdoc("verify", "--sample", "3")
    assert outcome.code == 0
    assert "chunks encoded again in float32: cosine to what is stored" in outcome.out
    sampled = longdoc("verify", "--sample", "3", "--json").json["sampled"]
    assert sampled["least"] > 0.999
    assert 1 <= len(sampled["chunks"]) <= 3


def test_verify_tells_other_programs_how_far_it_is(longdoc: Longdoc, library: Path) -> None:
    outcome = longdoc("--log-json", "verify", "--json")
    records = [json.loads(line) for line in outcome.err.splitlines()]
    assert [(record["event"], record.get("stage")) for record in records] == [("progress", "Checking"), ("done", None)]
    assert records[0]["total"] == 2
    assert outcome.json["sound"]


def test_the_exit_code_of_verify_tells_what_can_be_repaired(longdoc: Longdoc, library: Path) -> None:
    with sqlite3.connect(library / "library.sqlite3") as connection:
        connection.execute("UPDATE languages SET chunk_count = 99")
    assert longdoc("verify").code == 3
    assert longdoc("verify", "--repair").code == 0
    assert longdoc("verify").code == 0
    with sqlite3.connect(library / "library.sqlite3") as connection:
        connection.execute("UPDATE texts SET text = replace(text, 'fox', 'cat')")
    outcome = longdoc("verify", "--json")
    assert outcome.code == 1
    assert outcome.json["affected"] == [1]
    assert "restore" in longdoc("verify", "--repair").err
