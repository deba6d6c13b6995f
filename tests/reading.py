"""Readers in processes of their own beside a writer that adds and removes documents all the time.

Every answer a reader gets must be right for some moment between its question and its answer: no error, no chunk of a
document that does not exist, no text under the wrong document. `tests/benchmarks/readers.py` lets it run for minutes.
"""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.library import Library
from indexer.search import SearchOptions, search_library
from tests.building import add_text, make_library, settings
from tests.fakes import FakeEncoder

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.reading", "faiss", "sqlite_utils"])
ALIVE = 12
"""Documents the writer keeps; older ones it removes."""


def text_of(number: int) -> str:
    return f"Document matter{number} speaks of topic{number} and of nothing else but subject{number}. " * 12


@dataclass(frozen=True)
class Seen:
    """What a reader met: searches, errors, wrong answers, and when it first saw each document."""

    searches: int
    faults: list[str]
    first_seen: dict[int, float]


LARGE_FROM = 20
"""Chunks from which these libraries are searched as large ones are."""


def read(place: Path, ready: Any, stop: Any, out: Any) -> None:
    """Ask for the newest documents until told to stop."""
    searches, faults, first_seen, newest = 0, [], {}, 0
    encoder = FakeEncoder()
    Library.flat_limit = LARGE_FROM
    with Library.open(place / "library", settings(place), encoder=encoder) as library:
        ready.release()
        while not stop.is_set():
            # A reader that was held up looks further ahead: what came next may be gone already.
            for number in (newest + 1, newest + ALIVE // 2, newest, max(newest - ALIVE // 2, 0)):
                try:
                    found = answers(library, encoder, number) + hits(library, number)
                except Exception as error:  # whatever it is, the test tells of it
                    faults.append(f"{type(error).__name__}: {error}")
                    continue
                searches += 1
                faults += [f"asked for {number}, got {text[:40]!r}" for text in found if f"matter{number} " not in text]
                if found and number > newest:
                    newest = number
                    first_seen[number] = time.time()
    out.put(Seen(searches, faults, first_seen))


def answers(library: Library, encoder: FakeEncoder, number: int) -> list[str]:
    """The texts a reader is shown for one document's own words, and for their embedding where it is near."""
    store = library.store
    words = store.lexical(f"matter{number} AND topic{number}", 5)
    texts = [one.chunk.text for one in store.chunks([match.chunk_id for match in words])]
    query = encoder.encode_query([text_of(number)[:40]])
    near = library.search_vectors(query, 3)
    ids = [int(one) for one, score in zip(near.ids[0], near.scores[0], strict=True) if score > 0.999]
    for stored in store.chunks(ids):
        document = store.documents_by_id([stored.document_id])
        title = document[stored.document_id].title if document else None  # gone since
        if title is not None and stored.chunk.text not in text_of(int(title)):
            texts.append(f"{stored.chunk.text} under {title}")
    return [text if f"matter{number}" not in text[:60] else text for text in texts if "matter" in text]


def hits(library: Library, number: int) -> list[str]:
    """What a person sees who searches for one document; its last chunk may be half a word."""
    found = search_library(library, f"matter{number} topic{number}", SearchOptions(k=3)).hits
    texts = [hit.text for hit in found if hit.document.title == str(number)]
    return [text_of(number) if text in text_of(number) else text for text in texts]


def play(place: Path, seconds: float, readers: int = 8) -> tuple[list[Seen], dict[int, float]]:
    """Let readers read while documents come and go; what they saw, and when each document was committed."""
    ready, stop, out = CONTEXT.Semaphore(0), CONTEXT.Event(), CONTEXT.Queue()
    committed: dict[int, float] = {}
    with make_library(place) as library:
        processes = [CONTEXT.Process(target=read, args=(place, ready, stop, out)) for _ in range(readers)]
        for process in processes:
            process.start()
        for _ in processes:
            assert ready.acquire(timeout=120), "a reader did not start"
        made: list[int] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            number = len(committed) + 1
            with library.write_lock():
                made.append(add_text(library.store, text_of(number), f"/{number}", title=str(number)))
            committed[number] = time.time()
            if len(made) > ALIVE:
                with library.write_lock():
                    library.store.remove_document(made.pop(0))
            time.sleep(0.05)
        deadline = time.monotonic() + 20
        time.sleep(2)
        stop.set()
        seen = [out.get(timeout=max(1, deadline - time.monotonic())) for _ in processes]
        for process in processes:
            process.join(20)
            assert process.exitcode == 0
    return seen, committed
