"""What many sessions share: one model, answers that stay true, and no error while documents come in."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from app import services
from indexer import AddOptions, Library, ReadOptions, add
from tests.fakes import FakeEncoder


def test_ten_sessions_that_come_at_once_load_the_model_once(library, monkeypatch):
    loads = []

    def slowly(*_, **__):
        loads.append(threading.get_ident())
        time.sleep(0.2)
        return FakeEncoder()

    monkeypatch.setattr("indexer.encode.load_encoder", slowly)
    together = threading.Barrier(10)

    def session(number):
        together.wait()
        return services.library(), services.ask(services.Question(f"valve {number}")).hits

    with ThreadPoolExecutor(10) as pool:
        seen = list(pool.map(session, range(10)))
    assert len(loads) == 1
    assert len({id(opened) for opened, _ in seen}) == 1
    assert all(hits for _, hits in seen)


def test_sessions_search_without_an_error_while_a_folder_is_read(library, shelf):
    more = shelf.parent / "more"
    more.mkdir()
    for number in range(30):
        (more / f"{number}.txt").write_text(f"Note {number}\n\nThe valve of pump {number} was opened slowly.\n")
    done = threading.Event()

    def read():
        with Library.open(library.directory, library.settings, write=True, encoder=FakeEncoder()) as opened:
            add(opened, [str(more)], AddOptions(ReadOptions(sandbox=False)))
        done.set()

    def session(number):
        found, turn = [], 0
        while not done.is_set() or turn < 3:
            turn += 1
            found.append(len(services.ask(services.Question(f"valve {number} {turn}")).hits))
            services.documents()
            services.facets()
        return found

    reader = threading.Thread(target=read)
    with ThreadPoolExecutor(6) as pool:
        waiting = [pool.submit(session, number) for number in range(6)]
        reader.start()
        counts = [future.result(timeout=120) for future in waiting]
    reader.join()
    assert all(count > 0 for found in counts for count in found)
    assert len(services.documents()) == 35


def test_an_answer_is_remembered_until_the_library_changes(library, shelf):
    def titles():
        return {hit.document.display_title for hit in services.ask(services.Question("walrus")).hits}

    assert "walrus" not in titles()
    assert "text/csv" not in services.facets().types
    (shelf / "walrus.txt").write_text("Walrus\n\nThe walrus swims.\n")
    (shelf / "table.csv").write_text("animal,count\nwalrus,3\n")
    with Library.open(library.directory, library.settings, write=True, encoder=FakeEncoder()) as opened:
        add(opened, [str(shelf)], AddOptions(ReadOptions(sandbox=False)))
    assert "walrus" in titles()
    assert "text/csv" in services.facets().types


def test_what_is_tagged_is_found_by_its_tag_at_once(library):
    question = services.Question("valve", where=("tag=checked",))
    assert services.ask(question).hits == ()
    chosen = services.ask(services.Question("valve")).hits[0].document.id
    services.retag([chosen], added={"checked"}, removed=())
    assert [hit.document.id for hit in services.ask(question).hits] == [chosen]
    assert services.facets().tags == {"checked": 1}
