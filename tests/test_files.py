import os
import subprocess
import sys

import pytest

from indexer.files import passing_file, sweep, write_atomically


def names(directory):
    return [path.name for path in directory.iterdir()]


def gone_process():
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_a_file_is_written_whole_and_private(tmp_path):
    write_atomically(tmp_path / "a", [b"one", b"two"])
    assert (tmp_path / "a").read_bytes() == b"onetwo"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["a"]


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "a").write_text("old")

    def parts():
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "a", parts())
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_what_killed_processes_left_is_swept_and_nothing_else(tmp_path):
    pid = gone_process()
    for name in (
        f".a.{pid}.x1.tmp",
        f".a.{pid}.x1.tmp-wal",
        f".b.{pid}.x1.tmp",
        f".a.{os.getpid()}.x1.tmp",
        ".other.tmp",
    ):
        (tmp_path / name).touch()
    (tmp_path / f".a.{pid}.x1.tmp.d").mkdir()
    (tmp_path / f".a.{pid}.x1.tmp.d" / "inner").touch()
    with passing_file(tmp_path / "a") as temporary:
        assert temporary.exists()
        sweep(tmp_path, "a")
        assert temporary.exists()
    assert set(names(tmp_path)) == {f".b.{pid}.x1.tmp", f".a.{os.getpid()}.x1.tmp", ".other.tmp"}
    sweep(tmp_path)
    assert set(names(tmp_path)) == {f".a.{os.getpid()}.x1.tmp", ".other.tmp"}
