import numpy as np
import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from indexer.errors import DamagedError
from indexer.sealed import OtherFormatError, write_sealed
from indexer.vectors import IndexStamp, VectorIndex

DIMENSION = 64


class Rows:
    """Rows by id, as the store would keep them, and the brute force they are compared with."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.kept: dict[int, np.ndarray] = {}

    def make(self, ids):
        # Around a common mean, as embeddings are.
        rows = self.random.normal(size=(len(ids), DIMENSION)) + 2 * np.cos(np.arange(DIMENSION))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        self.kept.update(zip([int(one) for one in ids], rows, strict=True))
        return rows

    def fetch(self, ids):
        return np.stack([self.kept[int(one)] for one in ids]) if len(ids) else np.empty((0, DIMENSION), np.float32)

    def best(self, query, k, allowed=None):
        ids = np.array(sorted(self.kept if allowed is None else set(self.kept) & set(map(int, allowed))))
        scores = self.fetch(ids) @ query if len(ids) else np.empty(0)
        return ids[np.argsort(-scores, kind="stable")[:k]]


def filled(limit, count=3000):
    rows = Rows()
    index = VectorIndex(DIMENSION, rows.fetch, flat_limit=limit)
    ids = np.arange(1, count + 1)
    for first in range(0, count, 500):
        index.add(ids[first : first + 500], rows.make(ids[first : first + 500]))
    return index, rows


def assert_like_brute_force(index, rows, allowed=None, k=10):
    queries = Rows(9).make(range(20))
    found = index.search(queries, k, allowed)
    hits = total = 0
    for query, ids, scores in zip(queries, found.ids, found.scores, strict=True):
        wanted = rows.best(query, k, allowed)
        ids = ids[ids >= 0]
        assert len(ids) == len(wanted)
        assert len(set(ids)) == len(ids)
        assert set(ids) <= set(rows.kept)
        assert np.allclose(scores[: len(ids)], rows.fetch(ids) @ query, atol=1e-5)
        assert (np.diff(scores[: len(ids)]) <= 0).all()
        hits, total = hits + len(set(ids) & set(wanted)), total + len(wanted)
    # Codes say little of 64 independent numbers, and more of an embedding's 384 (tests/benchmarks/index.py).
    assert hits >= (total if index.exact else 0.9 * total)


@pytest.mark.parametrize("limit", [100_000, 1000])
def test_like_brute_force_after_adds_removals_and_reloading(tmp_path, limit):
    index, rows = filled(limit)
    assert index.exact == (limit > 3000)
    assert_like_brute_force(index, rows)
    gone = np.arange(5, 2900, 3)
    for first in range(0, len(gone), 100):  # in small steps
        assert index.remove(gone[first : first + 100]) == len(gone[first : first + 100])
    assert index.remove(gone) == 0
    for one in gone:
        del rows.kept[int(one)]
    assert_like_brute_force(index, rows)
    new = np.arange(5000, 5100)
    index.add(new, rows.make(new))
    assert_like_brute_force(index, rows)
    index.stamp = IndexStamp("library", 1, "none", 7)
    index.save(tmp_path / "index")
    assert index.unsaved == 0
    again = VectorIndex.load(tmp_path / "index", DIMENSION, rows.fetch, flat_limit=limit)
    assert again.stamp == index.stamp
    assert len(again) == len(rows.kept) == len(index)
    assert (again.ids == sorted(rows.kept)).all()
    assert again.missing(np.array([5, 6, 5000, 9999])).tolist() == [5, 9999]
    assert_like_brute_force(again, rows)


def test_codes_keep_what_is_near_to_the_query_itself():
    index, rows = filled(1000)
    queries, hits = Rows(9).make(range(50)), 0
    for query in queries:
        (kept,), _ = index._nearest(query[None, :], 150, None)
        assert len(set(kept)) == 150
        hits += len(set(kept) & set(rows.best(query, 10)))
    by_chance = 50 * 10 * 150 / 3000
    assert hits > 10 * by_chance


@pytest.mark.parametrize("dimension", [1, 7, 66])
def test_rows_of_any_length_have_codes(tmp_path, dimension):
    rows = np.random.default_rng(2).normal(size=(300, dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = VectorIndex(dimension, lambda ids: rows[ids], flat_limit=10)
    for first in range(0, 300, 5):
        index.add(np.arange(first, first + 5), rows[first : first + 5])
    index.save(tmp_path / "index")
    again = VectorIndex.load(tmp_path / "index", dimension, lambda ids: rows[ids])
    for one in (index, again):
        assert not one.exact
        assert np.allclose(one.search(rows[7:8], 1).scores, 1, atol=1e-5)


def test_an_index_of_another_layout_is_told_from_a_damaged_one(tmp_path):
    write_sealed(tmp_path / "index", {"dimension": DIMENSION, "stamp": None}, {"mean": b"", "ids": b"", "faiss": b""})
    with pytest.raises(OtherFormatError):
        VectorIndex.load(tmp_path / "index", DIMENSION, Rows().fetch)


def test_ids_that_come_in_any_order_are_found_filtered_and_removed():
    index, rows = filled(1000, 2000)
    late = np.array([5000, 4000, 4500, 3500])
    index.add(late, rows.make(late))
    more = np.array([4200, 3900, 7000])
    index.add(more, rows.make(more))
    assert index.missing(np.array([3900, 3901, 7000, 1, 9000])).tolist() == [3901, 9000]
    assert_like_brute_force(index, rows, np.array([4200, 4500, 3500, 1, 2, 8000]))
    assert index.remove(np.array([4000, 7000])) == 2
    assert index.missing(np.array([4000, 4200, 7000])).tolist() == [4000, 7000]


@pytest.mark.parametrize("limit", [100_000, 1000])
@pytest.mark.parametrize("size", [0, 1, 10, 999, 2500])
def test_filters_are_exact_however_little_they_leave(limit, size):
    index, rows = filled(limit)
    allowed = np.sort(np.random.default_rng(1).choice(np.arange(1, 3001), size, replace=False))
    assert_like_brute_force(index, rows, allowed)


def test_unknown_and_removed_ids_in_a_filter_are_passed_over():
    index, rows = filled(1000)
    index.remove(np.array([7]))
    found = index.search(Rows(3).make([1]), 5, np.array([7, 8, 9_999_999, -4]))
    assert list(found.ids[0]) == [8, -1, -1, -1, -1]


def test_an_empty_index_finds_nothing():
    index = VectorIndex(DIMENSION, Rows().fetch)
    assert (index.search(Rows().make([1, 2]), 3).ids == -1).all()
    assert (index.search(Rows().make([1, 2]), 3, np.array([1])).ids == -1).all()


@hypothesis_settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_history_of_adds_and_removals_is_like_brute_force(data):
    rows = Rows(data.draw(st.integers(0, 99)))
    index = VectorIndex(DIMENSION, rows.fetch, flat_limit=data.draw(st.sampled_from([20, 10_000])))
    free = data.draw(st.permutations(range(1, 200)))
    for _ in range(data.draw(st.integers(1, 8))):
        if rows.kept and data.draw(st.booleans()):
            gone = data.draw(st.lists(st.sampled_from(sorted(rows.kept)), unique=True, max_size=30))
            assert index.remove(np.array(gone, dtype=np.int64)) == len(gone)
            for one in gone:
                del rows.kept[one]
        else:
            count = min(data.draw(st.integers(0, 40)), len(free))
            new, free = np.array(free[:count], dtype=np.int64), free[count:]
            if count:
                index.add(new, rows.make(new))
    assert (index.ids == sorted(rows.kept)).all()
    query = rows.random.normal(size=(1, DIMENSION)).astype(np.float32)
    query /= np.linalg.norm(query)
    # Every row is among those compared exactly here, so codes too must agree.
    found = index.search(query, 7).ids[0]
    assert list(found[found >= 0]) == list(rows.best(query[0], 7))


@pytest.mark.parametrize("limit", [100_000, 1000])
def test_damage_is_seen_before_faiss_reads_it(tmp_path, limit):
    index, rows = filled(limit)
    index.save(tmp_path / "index")
    whole = (tmp_path / "index").read_bytes()
    random = np.random.default_rng(0)
    broken = [whole[:-1], whole[:10], b"", whole[: len(whole) // 2], whole + b"x"]
    for place in random.integers(0, len(whole), 40):
        broken.append(whole[:place] + bytes([whole[place] ^ 1 << int(random.integers(8))]) + whole[place + 1 :])
    for content in broken:
        (tmp_path / "index").write_bytes(content)
        with pytest.raises(DamagedError):
            VectorIndex.load(tmp_path / "index", DIMENSION, rows.fetch)
    (tmp_path / "index").write_bytes(whole)
    with pytest.raises(DamagedError, match="not 32"):
        VectorIndex.load(tmp_path / "index", 32, rows.fetch)


def test_the_file_is_private_and_a_failed_save_leaves_the_old_one(tmp_path, monkeypatch):
    index, rows = filled(1000)
    path = tmp_path / "index"
    index.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    index.remove(np.array([1]))
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        index.save(path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["index"]
