from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer.library import Library
from indexer.lock import writer_lock
from indexer.settings import load_settings
from tests.cli.conftest import Longdoc


@pytest.fixture
def library(longdoc: Longdoc, tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in {"a.txt": "The quick brown fox jumps. ", "b.txt": "The pump is drained before winter. "}.items():
        (folder / name).write_text(text * 40)
    longdoc("add", folder)
    return tmp_path / "library"


def test_backup_and_restore(longdoc: Longdoc, library: Path, tmp_path: Path) -> None:
    file = tmp_path / "my.backup"
    assert longdoc("backup", file, "--json").json == {
        "file": str(file), "bytes": file.stat().st_size, "documents": 2
    }  # fmt: skip
    assert longdoc("backup", file).code == 1
    longdoc("remove", "1", "2")
    assert longdoc("restore", file).code == 1
    assert longdoc("restore", file, "--replace", "--json").json["documents"] == 2
    assert len(longdoc("list", "--json").json["documents"]) == 2
    assert longdoc("--library", tmp_path / "other", "restore", file).code == 0
    assert longdoc("--library", tmp_path / "other", "search", "fox", "--json").json["hits"]


def test_export_and_import(longdoc: Longdoc, library: Path, tmp_path: Path) -> None:
    assert longdoc("export", tmp_path / "export", "--json").json["documents"] == 2
    other = tmp_path / "other"
    assert longdoc("--library", other, "import", tmp_path / "export", "--json").json == {"added": 2, "unchanged": 0}
    assert longdoc("--library", other, "search", "fox", "--json").json["hits"]
    assert longdoc("import", tmp_path / "nothing").code == 1


def test_a_library_is_made_and_built_anew_with_windows(longdoc: Longdoc, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("The pump is greased every month by the mechanic. " * 60)
    assert longdoc("add", "--window", "300", str(tmp_path / "note.txt")).code == 0
    refused = longdoc("add", "--window", "500", str(tmp_path / "note.txt"))
    assert refused.code == 1
    assert "longdoc reindex" in refused.err
    assert longdoc("verify").code == 0
    assert longdoc("reindex", "--window", "0", "--json").json["window"] == 0
    assert longdoc("reindex", "--back", "--json").json["window"] == 300


def test_reindex_back_and_prune(longdoc: Longdoc, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGDOC_CHUNK_TOKENS", "40")
    refused = longdoc("sync")
    assert refused.code == 1
    assert "longdoc reindex" in refused.err
    done = longdoc("reindex", "--json").json
    assert (done["documents"], done["chunk_tokens"]) == (2, 40)
    assert longdoc("search", "fox", "--json").json["hits"]
    assert longdoc("sync").code == 0
    assert longdoc("reindex", "--back", "--json").json["chunk_tokens"] == 192
    monkeypatch.delenv("LONGDOC_CHUNK_TOKENS")
    assert longdoc("sync").code == 0
    assert longdoc("prune", "--json").json["recipes"] == 1
    assert longdoc("reindex", "--back").code == 1
    assert longdoc("verify").code == 0


def test_a_gate_measures_before_and_after(longdoc: Longdoc, library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "judged"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("".join(
        json.dumps({"_id": name, "title": "", "text": text * 30}) + "\n"
        for name, text in (("x", "A fox jumps far. "), ("y", "A pump is drained. "))
    ))  # fmt: skip
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "fox jumps"}) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tx\t1\n")
    done = longdoc("reindex", "--chunk-tokens", "40", "--gate", folder, "--json").json
    assert (done["before"], done["after"]) == (1.0, 1.0)
    told = longdoc("reindex", "--chunk-tokens", "50", "--gate", folder).err.splitlines()
    assert "The evaluation gives 1.0000; it gave 1.0000 before." in told[-1]
    assert [line for line in told if line.startswith("[2/2] ")]
    assert not [line for line in told if line.strip() in ("[1/2]", "[2/2]")]
    assert "0 documents" not in longdoc("reindex", "--back").err


def test_a_second_writer_is_told_of_the_first(longdoc: Longdoc, library: Path) -> None:
    with writer_lock(library):
        for verb in (["verify", "--repair"], ["prune"], ["reindex", "--back"]):
            outcome = longdoc(*verb)
            assert outcome.code == 1
            assert "is being written to by process" in outcome.err
        with Library.open(library, load_settings()) as reader:
            assert reader.store.counts().documents == 2


def test_without_a_library_every_verb_says_so(longdoc: Longdoc, tmp_path: Path) -> None:
    for verb in (["verify"], ["backup", tmp_path / "x"], ["export", tmp_path / "y"], ["prune"], ["reindex"]):
        outcome = longdoc(*verb)
        assert outcome.code == 1
        assert "There is no library" in outcome.err
    assert not (tmp_path / "library").exists()
    assert not (tmp_path / "x").exists()
