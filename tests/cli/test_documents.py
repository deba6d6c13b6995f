from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.cli.documents import percent, ranges
from tests.cli.conftest import Longdoc


@pytest.fixture
def folder(longdoc: Longdoc, tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "a.md").write_text("# The first\n\nSome text of its own.")
    (path / "b.txt").write_text("Some other text.")
    (path / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    longdoc("add", path)
    return path


def test_list_has_every_document_with_its_status(longdoc: Longdoc, folder: Path) -> None:
    documents = longdoc("list", "--json").json["documents"]
    assert {(Path(one["paths"][0]).name, one["status"]) for one in documents} == {
        ("a.md", "indexed"),
        ("b.txt", "indexed"),
        ("bad.pdf", "failed"),
    }
    for one in documents:
        assert {"id", "status", "coverage", "pages", "chunks"} <= set(one)
    outcome = longdoc("list")
    assert "The first" in outcome.out
    assert "3 documents (2 indexed, 1 failed)." in outcome.err


def test_list_narrows_by_status_and_tag(longdoc: Longdoc, folder: Path) -> None:
    (failed,) = longdoc("list", "--status", "failed", "--json").json["documents"]
    assert failed["paths"] == [str(folder / "bad.pdf")]
    assert longdoc("tag", "later", failed["id"]).code == 0
    (tagged,) = longdoc("list", "--tag", "later", "--json").json["documents"]
    assert tagged["tags"] == ["later"]
    assert longdoc("tag", "--remove", "later", failed["id"], "--json").json["documents"][0]["tags"] == []
    assert longdoc("list", "--status", "lost").code == 2


def test_show_tells_what_could_not_be_read(longdoc: Longdoc, folder: Path) -> None:
    (failed,) = longdoc("list", "--status", "failed", "--json").json["documents"]
    outcome = longdoc("show", failed["id"])
    assert f"failed: {failed['reason']}" in outcome.out
    (shown,) = longdoc("show", failed["id"], "--json").json["documents"]
    assert shown == failed
    missing = longdoc("show", "999")
    assert (missing.code, missing.out) == (1, "")
    assert "There is no document 999" in missing.err


def test_show_takes_a_path_and_lists_say_why_from_where_one_stands(
    longdoc: Longdoc, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert longdoc("show", "bad.pdf").out == longdoc("show", folder / "bad.pdf").out
    assert "  bad.pdf: the PDF is damaged or cut off" in longdoc("list", "--status", "failed").out
    assert "  failed       bad.pdf: the PDF" in longdoc("add", "--retry", folder).out
    lost = longdoc("show", "nothing.pdf")
    assert (lost.code, lost.err) == (1, "longdoc: No document lies at nothing.pdf; see `longdoc list`.\n")


def test_remove_by_id_and_by_path(longdoc: Longdoc, folder: Path) -> None:
    outcome = longdoc("remove", folder / "a.md", "--json")
    assert "1 of them lies in an added folder: `longdoc sync` brings it back" in outcome.err
    assert outcome.json["removed"] == 1
    assert outcome.json["documents"][0]["status"] == "removed"
    assert longdoc("remove", "999").code == 1
    several = longdoc("remove", folder / "b.txt", folder / "bad.pdf")
    assert "2 of them lie in an added folder: `longdoc sync` brings them back" in several.err
    longdoc("sync")
    assert longdoc("remove", folder).code == 0
    assert longdoc("list", "--json").json["documents"] == []
    assert (folder / "b.txt").exists()


def test_no_library_is_one_sentence(longdoc: Longdoc) -> None:
    for verb in (["list"], ["show", "1"], ["remove", "1"], ["tag", "x", "1"]):
        outcome = longdoc(*verb)
        assert outcome.code == 1
        assert "`longdoc add FOLDER` makes one" in outcome.err


def test_what_a_document_says_cannot_steer_the_terminal(longdoc: Longdoc, tmp_path: Path) -> None:
    path = tmp_path / "x\x1b[31m.md"
    path.write_text("# Red \x1b[2J\u202e title\n\nText.")
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    odd.write_text("More text.")
    longdoc("add", path, odd)
    outcome = longdoc("list")
    assert "\x1b" not in outcome.out
    assert "\u202e" not in outcome.out
    assert "caf\\udce9.txt" in outcome.out
    assert len(longdoc("list", "--json").json["documents"]) == 2


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["show", "1"], ["add", "--help"]])
def test_the_quick_verbs_import_nothing_heavy(longdoc: Longdoc, folder: Path, arguments: list[str]) -> None:
    code = (
        "import sys\nfrom indexer.cli import main\n"
        f"main({arguments!r})\n"
        "heavy = {'torch', 'faiss', 'streamlit', 'transformers', 'sentence_transformers', 'pandas', 'scipy'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_pages_are_named_in_ranges_and_shares_never_rounded_up_to_all() -> None:
    assert ranges((3, 5, 6, 7, 12)) == "3, 5-7, 12"
    assert percent(0.999) == "99 %"
    assert percent(1.0) == "100 %"
