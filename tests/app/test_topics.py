"""The lists below the map: topics, sub-topics, outliers, growth over time, and a label of one's own."""

import sqlite3

import pytest
from click.testing import CliRunner

from app import chart, jobs, services, topics
from indexer import Cluster, Clustering, ClusterOptions, Growth, MapPoint, cluster_documents, load_clusters
from indexer.cli import longdoc
from indexer.clusters import Topic
from indexer.library import Library, writer_lock
from tests.app.browsing import keep_result
from tests.app.conftest import html_of
from tests.fakes import FakeEncoder


@pytest.fixture
def clustered(library):
    with Library.open(library.directory, library.settings, write=True, encoder=FakeEncoder()) as opened:
        cluster_documents(opened, ClusterOptions(k=2))
    return library


def name_it(test, label):
    next(field for field in test.text_input if field.label == "Label of this cluster").set_value(label)
    next(button for button in test.button if button.label == "Keep this label").click().run()


def made(*sizes, topics=()):
    clusters, start = [], 0
    for number, size in enumerate(sizes, 1):
        documents = tuple(range(start, start + size))
        clusters.append(Cluster(number, f"label {number}", ("a",), documents, documents[:1]))
        start += size
    points = tuple(MapPoint(d, 0.1 * d, 0.2 * d, one.id) for one in clusters for d in one.documents)
    return Clustering(tuple(clusters), topics, (), points, "given", 0, 0)


def test_clusters_stand_under_their_topics_the_largest_first():
    found = made(3, 9, 5, topics=(Topic(1, "upper", (1, 3)), Topic(2, "alone", (2,))))
    assert [(name, [one.id for one in clusters]) for name, clusters in topics._topics(found)] == [
        ("upper", [3, 1]),
        ("", [2]),
    ]
    assert [(name, [one.id for one in clusters]) for name, clusters in topics._topics(made(3, 9))] == [("", [2, 1])]


def test_growth_is_by_month_and_over_many_years_by_year():
    counts, periods = topics.by_period([Growth(1, "2023-11", 2), Growth(2, "2024-02", 1), Growth(1, "2024-02", 4)])
    assert periods == ["2023-11", "2023-12", "2024-01", "2024-02"]
    assert counts[1] == {"2023-11": 2, "2024-02": 4}
    counts, periods = topics.by_period([Growth(1, "1999-05", 2), Growth(1, "1999-07", 1), Growth(1, "2024-02", 4)])
    assert (periods[0], periods[-1], len(periods)) == ("1999", "2024", 26)
    assert counts[1] == {"1999": 3, "2024": 4}
    assert topics.by_period([]) == ({}, [])


def test_a_cluster_has_one_colour_on_the_map_and_in_the_bars():
    found = made(3, 4)
    bars = topics.growth_figure(found, {1: {"2024": 3}, 2: {"2024": 4}}, ["2024"])
    colours = chart.colours(found)
    assert [bar.marker.color for bar in bars.data] == [colours[1], colours[2]]
    assert colours[1] != colours[2]


def test_the_map_lists_its_clusters_and_leads_inside(open_page, clustered):
    number = max(load_clusters(clustered).clusters, key=lambda one: one.size).id
    page = html_of(open_page("map"))
    assert f"?cluster={number}" in page
    test = open_page("map", inside=str(number))
    assert not test.exception
    assert "The whole map" in html_of(test)
    assert "Sub-topics" in html_of(test)


def test_a_cluster_that_is_gone_is_a_sentence(open_page, clustered):
    test = open_page("map", inside="99")
    assert not test.exception
    assert "This cluster is there no more" in html_of(test)


def test_dates_of_documents_are_shown_over_time_where_there_are_several(open_page, clustered):
    assert "Over time" not in html_of(open_page("map"))
    with sqlite3.connect(clustered.directory / "library.sqlite3") as database:
        for place, (number,) in enumerate(database.execute("SELECT id FROM documents").fetchall()):
            database.execute("UPDATE documents SET modified = ? WHERE id = ?", (f"2024-0{place + 1}-03", number))
    page = html_of(open_page("map"))
    assert "Over time" in page
    assert "By the date that a document itself carries" in page


def test_a_label_of_ones_own_is_kept(open_page, clustered):
    number = load_clusters(clustered).clusters[0].id
    test = open_page("map", inside=str(number))
    name_it(test, "Everything about <pumps>")
    assert not test.exception
    assert "Everything about &lt;pumps&gt;" in html_of(test)
    assert {one.id: one.label for one in load_clusters(clustered).clusters}[number] == "Everything about <pumps>"


def test_an_empty_label_and_a_busy_library_are_sentences(open_page, clustered):
    number = load_clusters(clustered).clusters[0].id
    test = open_page("map", inside=str(number))
    name_it(test, "   ")
    assert "label cannot be empty" in html_of(test)
    with writer_lock(clustered.directory):
        test = open_page("map", inside=str(number))
        name_it(test, "Mine")
    assert not test.exception
    assert "is being written to" in html_of(test)
    assert load_clusters(clustered).clusters[0].label != "Mine"


def test_topics_of_chunks_are_looked_for_and_shown(open_page, clustered, monkeypatch):
    started = []
    monkeypatch.setattr(jobs, "start", lambda library, arguments: started.append(list(arguments)) or "none")
    test = open_page("map")
    next(button for button in test.button if button.label == "Look for topics inside documents").click().run()
    assert started == [["clusters", "--chunks", "--json"]]
    printed = CliRunner().invoke(longdoc, ["clusters", "--chunks", "-k", "2", "--json"], catch_exceptions=False).stdout
    keep_result(clustered.directory, "clusters", printed, "--chunks")
    page = html_of(open_page("map"))
    assert "chunks in" in page
    assert "Documents have come or gone since these topics" not in page
    services.remove_documents([next(document.id for document in services.documents())])
    page = html_of(open_page("map"))
    assert "Documents have come or gone since these topics" in page


def test_a_made_map_is_not_taken_for_topics_of_chunks(open_page, clustered):
    keep_result(clustered.directory, "clusters", '{"clusters": []}')
    test = open_page("map")
    assert not test.exception
    assert "Look for topics inside documents" in [button.label for button in test.button]
