import pytest

from indexer.errors import DamagedError
from indexer.sealed import read_sealed, write_sealed


def test_what_is_written_comes_back(tmp_path):
    write_sealed(tmp_path / "a", {"n": 1, "s": None}, {"one": b"abc", "none": b"", "two": b"de"})
    told, parts = read_sealed(tmp_path / "a")
    assert told == {"n": 1, "s": None}
    assert {name: bytes(part) for name, part in parts.items()} == {"one": b"abc", "none": b"", "two": b"de"}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_flipped_bits_anywhere_and_cuts_are_seen(tmp_path):
    write_sealed(tmp_path / "a", {"n": 1}, {"one": b"abcdefgh"})
    whole = (tmp_path / "a").read_bytes()
    for place in range(len(whole)):
        for bit in (0, 7):
            (tmp_path / "a").write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            with pytest.raises(DamagedError, match="checksum|begin|another version"):
                read_sealed(tmp_path / "a")
    for length in range(len(whole)):
        (tmp_path / "a").write_bytes(whole[:length])
        with pytest.raises(DamagedError):
            read_sealed(tmp_path / "a")
