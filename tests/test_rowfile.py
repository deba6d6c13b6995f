import numpy as np
import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from indexer.rowfile import RowFile


def rows_of(count, dimension=30, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_what_is_written_is_read_in_the_order_asked_for(tmp_path):
    file, rows = RowFile(tmp_path / "rows", 30, "seal"), rows_of(5)
    found, there = file.read(np.array([3, 4]))
    assert found.shape == (2, 30)
    assert not there.any()
    file.write(np.array([3, 4, 5, 9, 2]), rows)
    found, there = file.read(np.array([9, 1, 3, 2, 4, 5, 100, -3, 0]))
    assert there.tolist() == [True, False, True, True, True, True, False, False, False]
    assert np.allclose(found[there], rows[[3, 0, 4, 1, 2]], atol=1e-3)
    assert (tmp_path / "rows").stat().st_mode & 0o777 == 0o600


def test_another_process_sees_it_grow_be_emptied_and_be_made_anew(tmp_path):
    one, other = (RowFile(tmp_path / "rows", 30, "seal") for _ in range(2))
    for ids in (np.array([1, 2]), np.array([7]), np.array([3])):
        one.write(ids, rows_of(len(ids)))
        assert other.read(ids)[1].all()
    one.write(np.array([2, 7]), None)
    assert other.read(np.array([1, 2, 3, 7]))[1].tolist() == [True, False, True, False]
    (tmp_path / "rows").unlink()
    assert not other.read(np.array([1, 3]))[1].any()
    one.write(np.array([1]), rows_of(1, seed=8))
    assert np.allclose(other.read(np.array([1]))[0], rows_of(1, seed=8), atol=1e-3)


def test_rows_of_another_seal_and_records_at_another_place_are_none(tmp_path):
    file = RowFile(tmp_path / "rows", 30, "seal")
    file.write(np.array([1, 2]), rows_of(2))
    assert not RowFile(tmp_path / "rows", 30, "other").read(np.array([1, 2]))[1].any()
    whole, size = (tmp_path / "rows").read_bytes(), 8 * (30 // 4 + 2)
    (tmp_path / "rows").write_bytes(whole[:size] + whole[2 * size :] + whole[size : 2 * size])
    assert not file.read(np.array([1, 2]))[1].any()


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_flipped_bit_and_any_cut_is_seen_and_the_rest_stays(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("rows") / "rows"
    file, ids = RowFile(path, 30, "seal"), np.array([1, 2, 3])
    file.write(ids, rows_of(3))
    size = 8 * (30 // 4 + 2)
    whole = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        place = data.draw(st.integers(size, len(whole) - 1))
        whole[place] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(whole)
        _, there = file.read(ids)
        assert there.tolist() == [place // size != one for one in (1, 2, 3)]
        assert file.damaged(ids) == 1
    else:
        length = data.draw(st.integers(0, len(whole) - 1))
        path.write_bytes(whole[:length])
        assert file.read(ids)[1].tolist() == [length >= (one + 1) * size for one in (1, 2, 3)]


def test_a_place_that_cannot_be_written_is_an_error_and_reads_as_empty(tmp_path):
    file = RowFile(tmp_path / "no" / "rows", 30, "seal")
    with pytest.raises(OSError, match="No such"):
        file.write(np.array([1]), rows_of(1))
    assert not file.read(np.array([1]))[1].any()
