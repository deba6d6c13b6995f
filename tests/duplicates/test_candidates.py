from __future__ import annotations

import numpy as np
import pytest

from indexer.duplicates.candidates import Fingerprints, boilerplate_limit, find_candidates
from indexer.duplicates.kept import Print
from indexer.duplicates.shingles import Shingled, comparable, fingerprints, shingle_hashes, window_minima
from tests.duplicates.memory import prose


def of(*texts: str) -> Fingerprints:
    return Fingerprints.of([Print(fingerprints(Shingled.of([text]).hashes), len(comparable(text))) for text in texts])


def test_a_shared_run_of_79_characters_always_shares_a_fingerprint() -> None:
    run = comparable(prose(1, 3))[:79]
    for shift in range(0, 70, 7):
        left = fingerprints(shingle_hashes(comparable(prose(2, 3))[: 100 + shift] + run + comparable(prose(3, 3))))
        right = fingerprints(shingle_hashes(comparable(prose(4, 3))[: 50 + 2 * shift] + run + comparable(prose(5, 3))))
        assert len(np.intersect1d(left, right))


def test_window_minima_equal_those_taken_one_by_one() -> None:
    hashes = shingle_hashes(comparable(prose(1, 5)))
    minima = window_minima(hashes)
    assert len(minima) == len(hashes) - 8 - 63
    pieces = window_minima(hashes[:72])  # exactly one window
    assert pieces.tolist() == minima[:1].tolist()


def test_the_cut_of_the_chunks_changes_nothing() -> None:
    text = prose(1, 20)
    whole, cut = Shingled.of([text]), Shingled.of([text[:333], text[333:]])
    assert whole.text == cut.text
    assert np.array_equal(whole.hashes, cut.hashes)


def test_pairs_are_counted_right_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [prose(seed % 7, 20) + prose(100 + seed, 5) for seed in range(20)]
    expected = sorted(find_candidates(of(*texts)))
    monkeypatch.setattr("indexer.duplicates.candidates._KEYS_PER_PART", 500)
    monkeypatch.setattr("indexer.duplicates.candidates._KEYS_AT_ONCE", 100)
    assert sorted(find_candidates(of(*texts))) == expected
    assert len(expected) == 6 * 3 + 1  # seven families: six of three texts, one of two


def test_boilerplate_needs_more_families_in_a_larger_collection() -> None:
    assert boilerplate_limit(10) == 8
    assert boilerplate_limit(1_000_000) == 250


def test_no_documents_and_empty_documents() -> None:
    assert len(find_candidates(of())) == 0
    assert len(find_candidates(of("", "", " "))) == 0
