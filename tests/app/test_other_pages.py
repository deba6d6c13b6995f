"""The library, duplicates, map and health pages, state by state."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from app import access, chart, jobs, pairs, reports, services, work
from app.texts import TEXTS
from indexer import AddOptions, Library, MapPoint, ReadOptions, Role, add, find_duplicates
from indexer.cli import longdoc
from indexer.library import writer_lock
from indexer.parse.registry import known_formats
from tests.app.browsing import keep_result
from tests.app.conftest import html_of
from tests.fakes import FakeEncoder


def number_of(library, name):
    return next(document.id for document in library.store.documents() if document.paths[0].endswith(name))


@pytest.mark.parametrize("page", ["library", "duplicates", "map", "health"])
def test_without_a_library_every_page_teaches(open_page, page):
    test = open_page(page)
    assert not test.exception
    assert "Your library is empty" in html_of(test)


@pytest.mark.parametrize("page", ["search", "library", "duplicates", "map", "health"])
def test_a_broken_library_is_a_sentence_on_every_page(open_page, tmp_path, page):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "library.sqlite3").write_bytes(b"this is no database" * 100)
    test = open_page(page)
    assert not test.exception
    assert 'role="alert"' in html_of(test)
    assert "Traceback" not in html_of(test)


def test_a_missing_model_is_a_sentence(open_page, library, monkeypatch):
    from indexer.errors import EncoderError

    def missing(*_, **__):
        raise EncoderError("The encoder e5-small is not installed. Run `pip install longdoc` again.")

    monkeypatch.setattr("indexer.encode.load_encoder", missing)
    test = open_page(q="valve", mode="dense")
    assert not test.exception
    assert "The encoder e5-small is not installed" in html_of(test)


def test_the_library_lists_every_document_with_its_status(open_page, library):
    test = open_page("library")
    assert not test.exception
    table = test.dataframe[0].value
    assert set(table["Document"]) >= {"Supply agreement", "pump", "计量泵说明书", "hostile", "broken"}
    assert "Could not be read" in set(table["Status"])


def test_the_table_is_filtered_by_words(open_page, library):
    test = open_page("library")
    assert "5 documents" in html_of(test)
    test.text_input(key="shelf_text").set_value("说明书").run()
    assert list(test.dataframe[0].value["Document"]) == ["计量泵说明书"]
    assert "1 of 5 documents" in html_of(test)
    test.text_input(key="shelf_text").set_value("nothing like that").run()
    assert "No document matches" in html_of(test)


def test_a_reader_sees_the_library_and_cannot_change_it(open_page, library, monkeypatch):
    monkeypatch.setattr(access, "role", lambda: Role.READER)
    test = open_page("library")
    assert not test.exception
    assert len(test.dataframe) == 1
    assert [
        button.label for button in test.button if button.label in ("Add", "Look for changes", "Try failed again")
    ] == []


def test_somebody_who_is_not_signed_in_sees_nothing(open_page, library, monkeypatch):
    monkeypatch.setattr(access, "role", lambda: None)
    for page in ("search", "library", "document"):
        test = open_page(page, q="valve", id="1")
        assert "Sign in to search this library." in html_of(test)
        assert "valve" not in html_of(test).lower().replace("q=valve", "")


def test_removing_takes_documents_out_and_leaves_the_files(library, shelf):
    services.remove_documents([number_of(library, "pump.txt")])
    assert not any(document.paths[0].endswith("pump.txt") for document in library.store.documents())
    assert (shelf / "pump.txt").exists()


def test_tags_are_given_and_taken_and_the_others_stay(library):
    pump, supply = number_of(library, "pump.txt"), number_of(library, "supply.md")
    services.retag([pump], added={"manual", "2025"}, removed=())
    services.retag([pump, supply], added={"checked"}, removed={"2025"})
    assert set(library.store.document(pump).tags) == {"manual", "checked"}
    assert set(library.store.document(supply).tags) == {"checked"}


def test_every_type_that_can_be_read_has_a_name(library):
    named = {f"type.{found.media_type}" for found in known_formats()}
    assert named <= set(TEXTS)


def test_a_locked_library_is_said_and_nothing_is_changed(library, monkeypatch):
    from indexer import LibraryLockedError

    monkeypatch.setattr(services, "_PATIENCE", 0.0)
    with writer_lock(library.directory, 0), pytest.raises(LibraryLockedError):
        services.remove_documents([number_of(library, "pump.txt")])
    assert number_of(library, "pump.txt")


def test_the_job_at_work_is_shown(open_page, library, monkeypatch):
    job = jobs.Job(
        "1", "add", "2026-01-01T00:00:00", jobs.State.RUNNING, 0.5, "", "/shelf/<b>.pdf", 5, 10, 100, 300.0, 61.0,
        (jobs.Failure("/x/locked.pdf", "encrypted", "It needs a password."),), {}, "",
    )  # fmt: skip
    monkeypatch.setattr(jobs, "running", lambda library: job)
    test = open_page("library")
    assert not test.exception
    page = html_of(test)
    assert 'aria-valuenow="50.0"' in page
    assert "5 of 10 files" in page
    assert "about 61 seconds left" in page
    assert "&lt;b&gt;.pdf" in page
    assert "It needs a password." in page


@pytest.fixture
def started(monkeypatch):
    """The verbs that the pages started as jobs, none of which is really started."""
    verbs = []
    monkeypatch.setattr(jobs, "start", lambda library, arguments: verbs.append(list(arguments)) or "none")
    return verbs


def printed_by(*arguments):
    """What a verb prints with --json, run in this process."""
    return CliRunner().invoke(longdoc, [*arguments, "--json"], catch_exceptions=False).stdout


def test_duplicates_are_offered_then_shown(open_page, library, shelf, started):
    test = open_page("duplicates")
    assert "See what you have twice" in html_of(test)
    test.button[0].click().run()
    assert started == [["duplicates", "--json"]]
    keep_result(library.directory, "duplicates", printed_by("duplicates"))
    page = html_of(open_page("duplicates"))
    assert "Documents compared: 4. Groups found: 0." in page
    assert "Documents have come or gone" not in page
    services.remove_documents([number_of(library, "pump.txt")])
    assert "Documents have come or gone" in html_of(open_page("duplicates"))


def test_what_the_verb_prints_is_the_report_without_what_is_gone(library, shelf, tmp_path):
    (shelf / "supply-2.md").write_text((shelf / "supply.md").read_text().replace("thirty", "twenty"))
    with Library.open(library.directory, library.settings, write=True, encoder=FakeEncoder()) as opened:
        add(opened, [str(shelf)], AddOptions(ReadOptions(sandbox=False)))
    printed = json.loads(printed_by("duplicates"))["groups"]
    known = {document.id: document for document in library.store.documents()}
    (group,) = reports.groups_of(printed, known)
    (found,) = find_duplicates(library).groups
    assert group == replace(found, pairs=tuple(replace(pair, matches=(), sections=()) for pair in found.pairs))
    del known[group.documents[0].id]
    assert reports.groups_of(printed, known) == ()


def test_two_documents_are_compared(open_page, library):
    first, second = number_of(library, "supply.md"), number_of(library, "pump.txt")
    test = open_page("duplicates", a=str(first), b=str(second))
    assert not test.exception
    assert "All near-duplicates" in html_of(test)


def test_changed_words_are_found_in_both_texts():
    gone, come = pairs.changed_spans("within thirty days", "within twenty days")
    assert [span.of("within thirty days") for span in gone] == ["thirty"]
    assert [span.of("within twenty days") for span in come] == ["twenty"]
    assert pairs.changed_spans("", "new") == ([], [pairs.Span(0, 3)])


def test_the_map_is_offered_then_shown(open_page, library, started):
    test = open_page("map")
    assert "No map has been made yet" in html_of(test)
    test.button[0].click().run()
    assert started == [["clusters", "--json"]]
    printed_by("clusters")
    test = open_page("map")
    assert not test.exception
    assert "Clusters" in html_of(test)


def test_nothing_is_started_while_a_job_is_at_work(open_page, library, monkeypatch):
    monkeypatch.setattr(work, "busy", lambda: True)
    for page in ("map", "duplicates", "health"):
        offered = [
            button
            for button in open_page(page).button
            if button.label in ("Make the map", "Look for duplicates", "Check now")
        ]
        assert [button.disabled for button in offered] == [True]


def test_titles_on_the_map_are_no_markup():
    assert chart._shown("<b>x</b><a href='y'>", 90) == "&lt;b&gt;x&lt;/b&gt;&lt;a href=&#x27;y&#x27;&gt;"


def test_a_title_on_the_map_is_as_short_in_chinese_and_points_towards_the_middle():
    assert chart._shown("annual report of the pump works", 20) == "annual report of th…"
    assert chart._shown("潮井泵业有限公司年度质量报告", 20) == "潮井泵业有限公司年…"
    points = [MapPoint(number, x, y, None) for number, (x, y) in enumerate([(0, 0), (5, 9), (10, 0), (10, -0.5)])]
    assert [chart._side(point, points) for point in points] == ["top right", "top center", "top left", "bottom left"]


@pytest.mark.parametrize("data", [[7], (7,), {"0": 7}, 7, "7"])
def test_a_chosen_point_names_its_document_in_every_form_plotly_uses(data):
    assert chart._document({"customdata": data}) == 7


def test_health_shows_the_library_and_what_went_wrong(open_page, library):
    test = open_page("health")
    assert not test.exception
    page = html_of(test)
    assert "fake · 64" in page
    assert "broken" in page
    assert "This machine" in page


def test_health_checks_on_demand(open_page, library, started, shelf):
    test = open_page("health")
    next(button for button in test.button if button.label == "Check now").click().run()
    assert started == [["verify", "--json"]]
    keep_result(library.directory, "verify", '{"findings": []}')
    assert "Everything is sound." in html_of(open_page("health"))


def test_health_names_what_a_check_found(open_page, library, shelf):
    (shelf / "pump.txt").unlink()
    keep_result(library.directory, "verify", printed_by("verify"))
    page = html_of(open_page("health"))
    assert "pump.txt is gone" in page
    assert "Nothing is wrong with what is stored." in page


def test_health_shows_the_last_probes(open_page, library, monkeypatch):
    page = html_of(open_page("health"))
    assert "longdoc probe growth" in page
    assert "longdoc probe needle" in page
    monkeypatch.setattr(reports, "last_needle", lambda settings: SimpleNamespace(results=(1,)))
    monkeypatch.setattr(reports, "needle_picture", lambda needle: b"a picture")
    page = html_of(open_page("health"))
    assert 'src="data:image/png;base64,YSBwaWN0dXJl"' in page
    assert "longdoc probe needle" not in page


def test_what_may_be_uploaded_is_said_in_our_own_words(open_page, library):
    test = open_page("library")
    assert not test.exception
    said = "\n".join(element.proto.body for element in test.get("html"))
    assert "--ld-choose: 'Choose files'" in said
    assert "Up to 200 MB each: PDF, Word" in said
