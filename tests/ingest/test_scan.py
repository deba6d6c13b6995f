from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexer.ingest.scan import is_ignored, scan


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def names(root: Path, *roots: Path) -> list[str]:
    return [os.path.relpath(file.path, root) for file in scan([str(path) for path in roots or (root,)]).files]


def test_files_are_found_sorted_and_once(tmp_path: Path) -> None:
    write(tmp_path, "b.txt", "a/c.txt", "a/d/e.txt")
    assert names(tmp_path, tmp_path, tmp_path / "a", tmp_path / "b.txt") == ["a/c.txt", "a/d/e.txt", "b.txt"]


def test_hidden_and_left_over_files_are_skipped_unless_named(tmp_path: Path) -> None:
    write(tmp_path, ".hidden", ".git/config", "~$draft.docx", "Thumbs.db", "movie.part", "kept.txt")
    assert names(tmp_path) == ["kept.txt"]
    assert names(tmp_path, tmp_path / ".hidden") == [".hidden"]
    assert names(tmp_path, tmp_path / ".git") == [".git/config"]


def test_ignore_files_speak_gitignore_and_the_inner_one_wins(tmp_path: Path) -> None:
    write(
        tmp_path, "a.log", "keep.log", "drafts/x.txt", "sub/b.log", "sub/deep/c.log", "sub/only.txt", "z/drafts/y.txt"
    )
    (tmp_path / ".longdocignore").write_text("# notes\n*.log\n!keep.log\n/drafts/\n")
    (tmp_path / "sub" / ".longdocignore").write_text("!b.log\nonly.txt\n")
    assert names(tmp_path) == ["keep.log", "sub/b.log", "z/drafts/y.txt"]


def test_left_over_files_can_be_taken_back(tmp_path: Path) -> None:
    write(tmp_path, "a.tmp", "b.tmp")
    (tmp_path / ".longdocignore").write_text("!a.tmp\n")
    assert names(tmp_path) == ["a.tmp"]


def test_loops_of_links_end_and_dangling_links_are_no_files(tmp_path: Path) -> None:
    write(tmp_path, "a/x.txt")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "nowhere").symlink_to("gone.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a" / "x.txt")
    found = scan([str(tmp_path)])
    assert [os.path.relpath(file.path, tmp_path) for file in found.files] == ["a/x.txt", "link.txt"]
    assert [Path(one.path).name for one in found.unreadable] == ["self"]


def test_a_name_that_is_not_utf8_is_kept(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    Path(os.fsdecode(raw)).write_bytes(b"x")
    (found,) = scan([str(tmp_path)]).files
    assert os.fsencode(found.path) == raw


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_closed_folder_is_named_and_the_rest_found(tmp_path: Path) -> None:
    write(tmp_path, "closed/a.txt", "open/b.txt")
    (tmp_path / "closed").chmod(0)
    found = scan([str(tmp_path)])
    (tmp_path / "closed").chmod(0o700)
    assert [file.path for file in found.files] == [str(tmp_path / "open/b.txt")]
    assert found.unreadable[0].reason == "permission denied"


def test_a_path_longer_than_the_system_allows_is_named(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(25):
            os.mkdir("d" * 200, dir_fd=here)
            deeper = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
        os.close(os.open("deep.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    write(tmp_path, "near.txt")
    found = scan([str(tmp_path)])
    assert [file.path for file in found.files] == [str(tmp_path / "near.txt")]
    assert found.unreadable[0].reason == "file name too long"


def test_special_files_are_no_documents(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert names(tmp_path) == []
    assert scan([str(tmp_path / "pipe")]).unreadable[0].reason == "it is neither a file nor a folder"


def test_the_librarys_own_folder_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "library/library.sqlite3", "a.txt")
    assert [file.path for file in scan([str(tmp_path)], [str(tmp_path / "library")]).files] == [str(tmp_path / "a.txt")]


def test_one_file_can_be_asked_about(tmp_path: Path) -> None:
    write(tmp_path, "a/b.log", "a/c.txt")
    (tmp_path / "a" / ".longdocignore").write_text("*.log\n")
    assert is_ignored(str(tmp_path / "a/b.log"), str(tmp_path))
    assert is_ignored(str(tmp_path / ".x/c.txt"), str(tmp_path))
    assert not is_ignored(str(tmp_path / "a/c.txt"), str(tmp_path))
