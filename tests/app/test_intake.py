import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app import intake
from indexer import LongdocError, Settings


@dataclass
class Upload:
    name: str
    content: bytes = b"text"

    def getbuffer(self):
        return memoryview(self.content)


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "closed").mkdir()
    return Settings(library=tmp_path / "library", cache=tmp_path / "cache", ui_roots=str(tmp_path / "open"))


def test_a_folder_below_an_allowed_one_may_be_added(settings, tmp_path):
    (tmp_path / "open" / "papers").mkdir()
    assert intake.checked_path(f' "{tmp_path}/open/papers/" ', settings) == tmp_path / "open" / "papers"


@pytest.mark.parametrize("typed", ["/etc", "{}/closed", "{}/open/../closed", "{}/open/link"])
def test_what_lies_elsewhere_is_refused_however_it_is_written(settings, tmp_path, typed):
    (tmp_path / "open" / "link").symlink_to(tmp_path / "closed")
    with pytest.raises(LongdocError, match="may be added from"):
        intake.checked_path(typed.format(tmp_path), settings)


def test_a_path_that_is_not_there_or_not_whole_is_a_sentence(settings, tmp_path):
    with pytest.raises(LongdocError, match="There is no file or folder"):
        intake.checked_path(f"{tmp_path}/open/none", settings)
    with pytest.raises(LongdocError, match="whole path"):
        intake.checked_path("papers", settings)


def test_where_others_can_connect_nothing_is_open_until_the_settings_say_so(settings):
    closed = replace(settings, ui_roots="", ui_access="password")
    assert intake.roots(closed) == []
    assert intake.roots(replace(closed, ui_access="local")) == [Path.home().resolve()]
    two = replace(closed, ui_roots=os.pathsep.join(["/srv/a", "/srv/b"]))
    assert intake.roots(two) == [Path("/srv/a"), Path("/srv/b")]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\x.txt", "x.txt"),
        ("a\x00b\n.txt", "ab.txt"),
        (".hidden", "hidden"),
        ("", "upload"),
    ],
)
def test_an_upload_s_name_leads_nowhere(tmp_path, name, kept):
    (path,) = intake.keep_uploads([Upload(name)], tmp_path)
    assert path == tmp_path / "uploads" / kept


def test_the_same_upload_is_kept_once_and_another_one_gets_a_number(tmp_path):
    paths = intake.keep_uploads([Upload("a.txt"), Upload("a.txt"), Upload("a.txt", b"other")], tmp_path)
    assert [path.name for path in paths] == ["a.txt", "a.txt", "a (2).txt"]
    assert sorted(path.name for path in (tmp_path / "uploads").iterdir()) == ["a (2).txt", "a.txt"]
