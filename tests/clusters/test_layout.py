from __future__ import annotations

import numpy as np
import pytest

from indexer.clusters.features import nearest
from indexer.clusters.layout import FEW, lay_out, project
from indexer.datatypes import Matrix


def unit(rows: np.ndarray) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def subjects(count: int, subjects: int, seed: int = 0) -> tuple[Matrix, np.ndarray]:
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(subjects, 32))
    of = np.arange(count) % subjects
    return unit(centres[of] + 0.3 * chance.normal(size=(count, 32))), of


@pytest.mark.parametrize("seed", range(5))
def test_of_a_dozen_documents_two_that_are_nearly_the_same_lie_together(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(12, 32))
    rows[7] = rows[3] + 0.1 * chance.normal(size=32)
    plane = lay_out(unit(rows), nearest(unit(rows), unit(rows), 11), seed=0)
    distances = np.linalg.norm(plane - plane[3], axis=1)
    others = np.delete(distances, [3, 7])
    assert distances[7] < others.min() / 2


@pytest.mark.parametrize("count", [FEW, 300], ids=["few", "many"])
def test_documents_of_a_subject_lie_nearer_to_each_other_than_to_others(count: int) -> None:
    rows, of = subjects(count, 4)
    plane = lay_out(rows, nearest(rows, rows, 12), seed=0)
    assert plane.shape == (count, 2)
    assert np.abs(plane).max() <= 1
    distances = np.linalg.norm(plane[:, None] - plane, axis=2)
    same = of[:, None] == of
    assert np.median(distances[same]) < np.median(distances[~same]) / 3


def test_the_same_rows_are_laid_out_in_the_same_way() -> None:
    rows, _ = subjects(100, 3)
    near = nearest(rows, rows, 12)
    assert np.array_equal(lay_out(rows, near, seed=1), lay_out(rows, near, seed=1))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_hardly_any_documents_have_places_too(count: int) -> None:
    rows, _ = subjects(max(count, 1), 1)
    plane = lay_out(rows[:count], nearest(rows, rows, 3), seed=0)
    assert plane.shape == (count, 2)
    assert np.isfinite(plane).all()


def test_equal_documents_do_not_break_the_layout() -> None:
    rows = unit(np.ones((6, 32)))
    assert np.isfinite(lay_out(rows, nearest(rows, rows, 5), seed=0)).all()


def test_a_new_document_is_put_among_those_it_is_like() -> None:
    rows, of = subjects(100, 2)
    plane = lay_out(rows, nearest(rows, rows, 12), seed=0)
    new, _ = subjects(1, 2)
    placed = project(nearest(new, rows, 3), plane)
    middle = [plane[of == subject].mean(axis=0) for subject in (0, 1)]
    assert np.linalg.norm(placed[0] - middle[0]) < np.linalg.norm(placed[0] - middle[1])


def test_documents_that_are_all_but_the_same_do_not_lie_on_each_other() -> None:
    rows, of = subjects(200, 4)
    rows[of == 2] = rows[2]
    plane = lay_out(rows, nearest(rows, rows, 12), seed=0)
    distances = np.linalg.norm(plane[:, None] - plane, axis=2) + 9 * np.eye(200)
    assert distances.min() > 0.35 / np.sqrt(200) / 3
