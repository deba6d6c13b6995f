import json

import pytest

from indexer import passwords
from indexer.errors import SettingsError
from indexer.passwords import Role, hash_password, load_passwords, password_matches, store_password


@pytest.fixture(autouse=True)
def _cheap(monkeypatch):
    monkeypatch.setattr(passwords, "_LOG2_N", 10)


def test_a_hash_matches_its_password_alone_and_holds_no_trace_of_it():
    hashed = hash_password("correct horse")
    assert password_matches("correct horse", hashed)
    assert not password_matches("correct horsf", hashed)
    assert "correct" not in hashed
    assert hashed != hash_password("correct horse")


def test_a_short_password_is_refused_with_what_is_wanted():
    with pytest.raises(SettingsError, match="at least 10 characters"):
        hash_password("short")


def test_stored_passwords_are_private_and_one_a_role(tmp_path):
    path = tmp_path / "new" / "passwords.json"
    store_password(path, Role.EDITOR, "editor password")
    store_password(path, Role.READER, "reader password")
    store_password(path, Role.EDITOR, "another password")
    hashes = load_passwords(path)
    assert password_matches("another password", hashes[Role.EDITOR])
    assert password_matches("reader password", hashes[Role.READER])
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in path.parent.iterdir()] == ["passwords.json"]


@pytest.mark.parametrize("content", ["{", "[]", '{"boss": "x"}', json.dumps({"editor": "scrypt$1"})])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path, content):
    path = tmp_path / "passwords.json"
    path.write_text(content)
    with pytest.raises(SettingsError, match="passwords.json cannot be read .* --set-password"):
        load_passwords(path)


def test_no_file_is_no_password(tmp_path):
    assert load_passwords(tmp_path / "none.json") == {}
