from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from indexer.clusters import Growth
from tests.building import add_text, make_library
from tests.cli.conftest import Longdoc

SUBJECTS = {
    "football": "The striker scored a goal in the league match and the football club won the cup final at home",
    "lease": "The court held that the tenant must pay rent to the landlord under the lease agreement for the flat",
    "vaccine": "The vaccine trial measured antibody response of patients against the influenza virus in the clinic",
}


@pytest.fixture
def folder(longdoc: Longdoc, tmp_path: Path) -> Path:
    """A library of three subjects, written past the readers of files, which are not the matter here."""
    with make_library(tmp_path) as library:
        for subject, sentence in SUBJECTS.items():
            words = sentence.split()
            for number in range(8):
                text = f"{' '.join(words[number:] + words[:number])}. Numbered {subject} {number} here."
                add_text(library.store, text, f"/files/{subject}{number}.txt", size=400)
    return tmp_path


def subject_of(longdoc: Longdoc, document: int) -> str:
    (shown,) = longdoc("show", document, "--json").json["documents"]
    return Path(shown["paths"][0]).stem.rstrip("0123456789")


def test_clusters_have_labels_members_and_places(longdoc: Longdoc, folder: Path) -> None:
    answer = longdoc("clusters", "-k", "3", "--json").json
    assert sorted(cluster["size"] for cluster in answer["clusters"]) == [8, 8, 8]
    assert answer["outliers"] == []
    assert len(answer["map"]) == 24
    for cluster in answer["clusters"]:
        assert len({subject_of(longdoc, document) for document in cluster["documents"]}) == 1
    outcome = longdoc("clusters", "-k", "3")
    assert "3 clusters, as asked for" in outcome.err


def test_a_cluster_filters_a_search(longdoc: Longdoc, folder: Path) -> None:
    clusters = longdoc("clusters", "-k", "3", "--json").json["clusters"]
    chosen = clusters[0]
    hits = longdoc("search", "numbered", "-k", "24", "--where", f"cluster={chosen['id']}", "--json").json["hits"]
    found = {hit["document"]["id"] for hit in hits}
    assert found
    assert found <= set(chosen["documents"])


def test_a_new_name_outlives_a_refresh_and_new_documents_are_put_in(longdoc: Longdoc, folder: Path) -> None:
    first = longdoc("clusters", "-k", "3", "--json").json["clusters"][0]
    assert longdoc("clusters", "--rename", first["id"], "Mine").code == 0
    words = SUBJECTS[subject_of(longdoc, first["documents"][0])].split()
    with make_library(folder) as library:
        add_text(library.store, " ".join(words[::-1]) + ".", "/files/new.txt", size=400)
    shown = longdoc("clusters", "--show", "--json").json
    assert shown["stale"] is True
    again = next(c for c in shown["clusters"] if c["id"] == first["id"])
    assert (again["label"], again["size"]) == ("Mine", 9)
    refreshed = longdoc("clusters", "-k", "3", "--json").json
    assert {c["id"]: c["label"] for c in refreshed["clusters"]}[first["id"]] == "Mine"
    assert refreshed["stale"] is False


def test_the_map_is_drawn(longdoc: Longdoc, folder: Path, tmp_path: Path) -> None:
    for name, start in (("map.html", b"<!DOCTYPE html>"), ("map.png", b"\x89PNG")):
        assert longdoc("clusters", "-k", "3", "--plot", tmp_path / name).code == 0
        assert (tmp_path / name).read_bytes().startswith(start)
    failed = longdoc("clusters", "-k", "3", "--plot", tmp_path / "map.gif")
    assert (failed.code, ".html or .png" in failed.err) == (1, True)


def test_topics_of_chunks_and_inside_a_cluster(longdoc: Longdoc, folder: Path) -> None:
    topics = longdoc("clusters", "--chunks", "-k", "3", "--json").json["topics"]
    assert sum(topic["size"] for topic in topics) == 24
    cluster = longdoc("clusters", "-k", "3", "--json").json["clusters"][0]
    inside = longdoc("clusters", "--inside", cluster["id"], "-k", "2", "--json").json
    assert sum(one["size"] for one in inside["clusters"]) == cluster["size"]
    assert longdoc("clusters", "--inside", "99").code == 1


def test_nothing_kept_is_said_so(longdoc: Longdoc, folder: Path) -> None:
    outcome = longdoc("clusters", "--show")
    assert outcome.code == 1
    assert "no clusters yet" in outcome.err


def test_documents_are_tagged_as_the_labelled_ones(longdoc: Longdoc, folder: Path, tmp_path: Path) -> None:
    rows = [f"{subject}{number}.txt,{subject}" for subject in SUBJECTS for number in range(4)]
    (tmp_path / "labels.csv").write_text("document,label\n" + "\n".join([*rows, "nowhere.txt,lease"]))
    outcome = longdoc("classify", "--from", tmp_path / "labels.csv", "--confidence", "0.4", "--dry-run")
    assert outcome.code == 0
    assert "'nowhere.txt'" in outcome.err
    assert longdoc("list", "--tag", "lease", "--json").json["documents"] == []
    answer = longdoc("classify", "--from", tmp_path / "labels.csv", "--confidence", "0.4", "--json").json
    assert (answer["labelled"], answer["accuracy"], answer["folds"]) == (12, 1.0, 4)
    assert len(answer["assigned"]) + answer["undecided"] == 12
    for one in answer["assigned"]:
        assert subject_of(longdoc, one["document"]) == one["label"]
    tagged = longdoc("list", "--tag", "lease", "--json").json["documents"]
    assert len(tagged) == sum(one["label"] == "lease" for one in answer["assigned"])


def test_too_few_labels_are_refused_with_what_to_do(longdoc: Longdoc, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("football0.txt,football\nfootball1.txt,football\n")
    outcome = longdoc("classify", "--from", tmp_path / "labels.csv")
    assert (outcome.code, "at least two labels" in outcome.err) == (1, True)
    (tmp_path / "labels.csv").write_text("football0.txt\n")
    assert "row 1 needs a document and a label" in longdoc("classify", "--from", tmp_path / "labels.csv").err


def test_another_program_can_follow_by_log_records(longdoc: Longdoc, folder: Path) -> None:
    records = [json.loads(line) for line in longdoc("--log-json", "clusters", "-k", "3").err.splitlines()]
    assert records[0]["event"] == "progress"
    assert {"stage", "done", "total", "seconds", "seconds_left"} <= records[0].keys()
    assert (records[-1]["event"], records[-1]["clusters"], records[-1]["documents"]) == ("done", 3, 24)


def test_growth_is_a_line_of_bars() -> None:
    from indexer.cli.clusters import growth_line

    assert growth_line([Growth(1, "2024-05", 7)]) == ""
    assert growth_line([Growth(1, "2023-12", 1), Growth(1, "2024-02", 8)]) == "2023-12 ▁ █ 2024-02"
    assert (
        growth_line([Growth(1, "2019-12", 4), Growth(1, "2020-02", 4), Growth(1, "2024-02", 4)]) == "2019 ██   █ 2024"
    )


def test_a_cluster_is_looked_into_in_few_parts(longdoc: Longdoc, folder: Path) -> None:
    cluster = longdoc("clusters", "-k", "1", "--json").json["clusters"][0]
    inside = longdoc("clusters", "--inside", cluster["id"], "--json").json["clusters"]
    assert 2 <= len(inside) <= math.isqrt(cluster["size"])


def test_topics_of_chunks_end_with_a_record(longdoc: Longdoc, folder: Path) -> None:
    outcome = longdoc("--log-json", "clusters", "--chunks", "-k", "3", "--json")
    done = [json.loads(line) for line in outcome.err.splitlines() if '"done"' in line]
    assert [(one["topics"], one["chunks"]) for one in done] == [(3, 24)]
    assert outcome.json["generation"] >= 1
