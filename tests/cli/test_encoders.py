"""The shapes of the README's table, as tiny folders, on the command line: a library is made with each and searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Longdoc
from tests.encode.shapes import write_lfm2, write_model
from tests.encode.test_shapes import SHAPES


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "english.txt").write_text("The invoice is late. Who pays the delivery? " * 6)
    (folder / "chinese.txt").write_text("长文本分块。猫，鱼。" * 12, encoding="utf-8")
    return folder


@pytest.mark.parametrize("shape", [*SHAPES, "lfm2"])
def test_a_library_is_made_with_a_local_folder(shape: str, real_longdoc: Longdoc, shelf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    write_lfm2(folder) if shape == "lfm2" else write_model(folder, SHAPES[shape], length=100)
    added = real_longdoc("--encoder", folder, "add", shelf, "--json")
    assert added.code == 0, added.err
    assert added.json["added"] == 2
    assert not (folder / "ran").exists()
    found = real_longdoc("search", "猫", "--mode", "dense", "--json").json
    assert {hit["document"]["title"] for hit in found["hits"]} == {"english", "chinese"}
    first = real_longdoc("search", "invoice", "--json").json["hits"][0]
    assert first["document"]["title"] == "english"


def test_windows_of_a_model_that_cannot_have_them_are_refused_in_a_sentence(
    real_longdoc: Longdoc, shelf: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    write_lfm2(folder, pooling="cls")
    refused = real_longdoc("--encoder", folder, "add", "--window", "100", shelf)
    assert refused.code == 1
    assert "leave --window out" in refused.err


def test_windows_of_a_long_context_model(real_longdoc: Longdoc, shelf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    write_model(folder, SHAPES["modernbert"], length=100)
    added = real_longdoc("--encoder", folder, "add", "--window", "8192", shelf, "--json")
    assert added.json["added"] == 2
    assert real_longdoc("search", "猫", "--json").json["hits"][0]["document"]["title"] == "chinese"
    assert real_longdoc("verify").code == 0
