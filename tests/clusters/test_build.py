from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexer.clusters.build import ClusterOptions, Vectors, build
from indexer.clusters.results import Clustering
from indexer.clusters.state import Kept, from_json, rename, take_over, to_json
from indexer.errors import LongdocError
from tests.clusters.gather import GroupTexts, grouped

SIZES = (30, 25, 20, 15)


def make(vectors: Vectors, groups: dict[int, int], old: Kept | None = None, **options: object) -> Kept:
    return build(vectors, GroupTexts(groups), ClusterOptions(**options), old, lambda *_: None)  # type: ignore[arg-type]


def as_sets(clustering: Clustering) -> set[frozenset[int]]:
    return {frozenset(cluster.documents) for cluster in clustering.clusters}


def true_sets(groups: dict[int, int]) -> set[frozenset[int]]:
    return {frozenset(d for d, g in groups.items() if g == group) for group in set(groups.values()) if group >= 0}


@pytest.mark.parametrize("k", [None, 4])
def test_groups_are_found_with_and_without_their_number(k: int | None) -> None:
    vectors, groups = grouped(SIZES)
    clustering = make(vectors, groups, k=k).clustering
    assert as_sets(clustering) == true_sets(groups)
    assert clustering.criterion.startswith("4 clusters")
    assert clustering.outliers == ()


def test_labels_are_words_of_the_cluster_without_stop_words_and_numbers() -> None:
    vectors, groups = grouped(SIZES)
    labels = {groups[c.documents[0]]: c.label for c in make(vectors, groups).clustering.clusters}
    assert any(word in labels[0] for word in ("goal", "league", "football", "striker"))
    assert any(word in labels[1] for word in ("tenant", "court", "rent", "lease"))
    assert any(word in labels[3] for word in ("神经网络", "模型", "训练"))
    for label in labels.values():
        assert not {"the", "and", "of", "in", "2024", "17", "的"} & set(label.replace(",", "").split())


def test_documents_apart_from_all_are_outliers_unless_the_number_is_fixed() -> None:
    vectors, groups = grouped((40, 40, 40), strays=3)
    free = make(vectors, groups).clustering
    assert set(free.outliers) == {d for d, g in groups.items() if g < 0}
    assert free.outlier_share == 3 / 123
    assert [p.cluster for p in free.points if p.document in free.outliers] == [None] * 3
    assert make(vectors, groups, k=3).clustering.outliers == ()


def test_the_same_input_and_seed_give_the_same_clusters_and_map() -> None:
    vectors, groups = grouped(SIZES)
    assert make(vectors, groups, seed=3) == make(vectors, groups, seed=3)


def test_a_refresh_with_more_documents_keeps_ids_labels_and_places() -> None:
    vectors, groups = grouped((40, 30, 30))
    first = make(vectors, groups)
    first = rename(first, 2, "My own name")
    more, more_groups = grouped((44, 30, 31), seed=1)
    fresh = more.rows[[more_groups[i] == 0 for i in more.ids.tolist()]][:5]
    grown = Vectors(np.append(vectors.ids, np.arange(1001, 1006)), np.concatenate([vectors.rows, fresh]))
    second = make(grown, groups | dict.fromkeys(range(1001, 1006), 0), first)
    before = {c.id: (c.label, set(c.documents)) for c in first.clustering.clusters}
    after = {c.id: (c.label, set(c.documents)) for c in second.clustering.clusters}
    assert before.keys() == after.keys()
    assert all(after[i][0] == before[i][0] and before[i][1] <= after[i][1] for i in before)
    assert after[2][0] == "My own name"
    places = {p.document: (p.x, p.y) for p in second.clustering.points}
    assert all(places[p.document] == (p.x, p.y) for p in first.clustering.points)
    newest = np.array([places[i] for i in range(1001, 1006)])
    home = np.array([places[d] for d, g in groups.items() if g == 0])
    assert np.linalg.norm(newest - home.mean(axis=0), axis=1).max() < 2 * home.std() + 0.2


def test_an_id_that_is_gone_is_never_given_again() -> None:
    vectors, groups = grouped((30, 30))
    first = make(vectors, groups)
    emptied = replace(first, clustering=replace(first.clustering, clusters=first.clustering.clusters[:1]))
    named, next_id = take_over([replace(c, id=0) for c in first.clustering.clusters], emptied)
    assert [c.id for c in named] == [1, 3]
    assert next_id == 4


def test_many_clusters_come_under_topics() -> None:
    vectors, groups = grouped((12,) * 12)
    clustering = make(vectors, groups, k=12).clustering
    assert {c for topic in clustering.topics for c in topic.clusters} == {c.id for c in clustering.clusters}
    assert 2 <= len(clustering.topics) < 12
    assert all(c.topic is not None for c in clustering.clusters)


def test_the_map_keeps_groups_apart() -> None:
    vectors, groups = grouped((40, 40, 40))
    points = make(vectors, groups).clustering.points
    plane = np.array([(p.x, p.y) for p in points])
    label = np.array([groups[p.document] for p in points])
    distances = np.linalg.norm(plane[:, None] - plane[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (label[distances.argmin(axis=1)] == label).all()
    assert np.abs(plane).max() <= 1


def test_a_clustering_survives_being_kept() -> None:
    vectors, groups = grouped((12,) * 7, strays=2)
    kept = make(vectors, groups)
    assert from_json(to_json(kept)) == kept


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_few_documents_are_no_trouble(count: int) -> None:
    vectors, groups = grouped((count,))
    for k in (None, 1, 3):
        kept = make(vectors, groups, k=k)
        assert sum(c.size for c in kept.clustering.clusters) + len(kept.clustering.outliers) == count
        assert len(kept.clustering.points) == count


def test_a_label_cannot_be_empty_and_needs_a_cluster() -> None:
    vectors, groups = grouped((10, 10))
    kept = make(vectors, groups)
    with pytest.raises(LongdocError, match="empty"):
        rename(kept, 1, "  ")
    with pytest.raises(LongdocError, match="no cluster 99"):
        rename(kept, 99, "Name")
