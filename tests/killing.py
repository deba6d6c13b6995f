"""Kills the program in the middle of what it does, and looks at what is left.

Each round takes a fresh copy of a small world (a folder of files, a library of some of them, a backup, an export),
starts one operation in a process of its own and kills it (SIGKILL): at one of the moments the program names between its
writes (``indexer.faults``), each of them in turn, or at a random time. Then the library must open, be whole, have every
document it had before that the operation does not concern, show nothing half made, and answer searches; and doing the
operation again must end as it does undisturbed. `tests/test_killed.py`
runs a short version, `python -m tests.benchmarks.kills` as many rounds as are asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from indexer import faults
from indexer.datatypes import StoredDocument
from indexer.ingest import AddOptions, Listener, add, run as ingest_run, sync
from indexer.library import Library
from indexer.lock import writer_lock
from indexer.parse import Member, ReadOptions
from indexer.parse.registry import known_formats
from indexer.settings import Settings
from indexer.store import Store, check_copy, is_library, schema
from indexer.upkeep import Severity, backup, export_library, import_library, prune, reindex, restore, verify
from tests.fakes import FakeEncoder

OPTIONS = AddOptions(ReadOptions(sandbox=False))
SENTENCES = (
    "The {0} pump was drained on day {1} and its valve replaced. ",
    "Delivery of lot {1} to {0} was late, so the penalty of clause {1} applies. ",
    "{0} 号水泵在第 {1} 天排空，阀门已经更换。",
)


def text_of(name: str, length: int = 60) -> str:
    """A text that no other name has, of some pages."""
    draw = random.Random(name)
    return "".join(draw.choice(SENTENCES).format(name, draw.randrange(10_000)) for _ in range(length))


@contextlib.contextmanager
def without_workers() -> Iterator[None]:
    """No parser process is started, which would cost a round more than all the rest: the files are plain text."""

    @contextlib.contextmanager
    def whole(path: Path, options: ReadOptions) -> Iterator[list[Member]]:
        yield [Member(None, path, path.stat().st_size)]

    kept, ingest_run._unpacker = ingest_run._unpacker, lambda: whole
    try:
        yield
    finally:
        ingest_run._unpacker = kept


@dataclass(frozen=True)
class World:
    """Where everything of one round lies."""

    place: Path

    folder = property(lambda self: self.place / "folder")
    library = property(lambda self: self.place / "library")
    backup = property(lambda self: self.place / "kept.backup")
    export = property(lambda self: self.place / "export")

    @property
    def settings(self) -> Settings:
        return Settings(library=self.library, cache=self.place / "cache")

    def open(self, **more: Any) -> Library:
        return Library.open(self.library, self.settings, encoder=FakeEncoder(), **more)


def build(place: Path) -> World:
    """The world as it is at the start of every round."""
    world = World(place)
    world.folder.mkdir(parents=True)
    for name in ("alpha", "beta", "gamma"):
        (world.folder / f"{name}.txt").write_text(text_of(name))
    with without_workers(), world.open(create=True, write=True) as library:
        add(library, [world.folder], OPTIONS, Listener())
        library.store.tag([1], ["kept"])
        backup(library, world.backup)
        export_library(library, world.export)
        (world.folder / "delta.txt").write_text(text_of("delta"))
        add(library, [world.folder], OPTIONS, Listener())
        library.vectors.save(library.index_path())
    return world


# The operations: what is changed before, and what is done. Each can be done again after it was cut short.


def change_files(world: World) -> None:
    (world.folder / "alpha.txt").write_text(text_of("alpha, second version"))
    (world.folder / "beta.txt").unlink()
    (world.folder / "gamma.txt").rename(world.folder / "moved.txt")
    for name in ("epsilon", "zeta"):
        (world.folder / f"{name}.txt").write_text(text_of(name, 150))


def do_add(world: World) -> None:
    with world.open(create=True, write=True) as library:
        add(library, [world.folder], OPTIONS, Listener())
        assert len(library.vectors)


def do_sync(world: World) -> None:
    with world.open(write=True) as library:
        sync(library, OPTIONS, Listener())
        library.rebuild_vectors()


def do_remove(world: World) -> None:
    with world.open(write=True) as library, library.write_lock():
        for name in ("alpha.txt", "delta.txt"):
            library.store.unlink(str(world.folder / name))


def do_reindex(world: World) -> None:
    with world.open(write=True, any_recipe=True) as library, library.write_lock():
        reindex(library, replace(library.store.recipe, chunk_tokens=48), FakeEncoder())
        assert len(library.vectors)


def do_backup(world: World) -> None:
    with world.open() as library:
        backup(library, world.place / "new.backup", overwrite=True)


def do_restore(world: World) -> None:
    restore(world.backup, world.library, replace=True)


def do_import(world: World) -> None:
    if not is_library(world.library):
        with world.open(create=True):
            pass
    with world.open(write=True) as library, library.write_lock():
        import_library(library, world.export)


def do_prune(world: World) -> None:
    with world.open(write=True) as library, library.write_lock():
        prune(library)


def do_repair(world: World) -> None:
    with world.open(write=True) as library, library.write_lock():
        verify(library, repair=True)


def do_migrate(world: World) -> None:
    Store.open(world.library).close()


def make_old(world: World) -> None:
    """A library as the program of the first schema left it, with the export's documents in it."""
    shutil.rmtree(world.library)
    scripts, schema._SCRIPTS = schema._SCRIPTS, schema._SCRIPTS[:1]
    try:
        with world.open(create=True, write=True) as library, library.write_lock():
            import_library(library, world.export)
    finally:
        schema._SCRIPTS = scripts


def no_library(world: World) -> None:
    shutil.rmtree(world.library)


def break_words(world: World) -> None:
    with world.open(write=True) as library:
        connection = library.store._connections.get()
        connection.execute("UPDATE recipes SET index_text_version = 'old'")


@dataclass(frozen=True)
class Operation:
    """What is done, what is changed first, and whose documents it may change (by file name)."""

    do: Callable[[World], None]
    first: Callable[[World], None] = lambda world: None
    concerns: frozenset[str] = frozenset()


CHANGED = frozenset({"alpha.txt", "beta.txt", "gamma.txt"})
ALL = frozenset({"alpha.txt", "beta.txt", "gamma.txt", "delta.txt"})
OPERATIONS = {
    "create": Operation(do_add, no_library, ALL),
    "add": Operation(do_add, change_files, CHANGED),
    "sync": Operation(do_sync, change_files, CHANGED),
    "remove": Operation(do_remove, concerns=frozenset({"alpha.txt", "delta.txt"})),
    "reindex": Operation(do_reindex),
    "backup": Operation(do_backup),
    "restore": Operation(do_restore, concerns=frozenset({"delta.txt"})),
    "restore into an empty place": Operation(do_restore, no_library, ALL),
    "import": Operation(do_import, no_library, ALL),
    "prune": Operation(do_prune),
    "repair": Operation(do_repair, break_words),
    "migrate": Operation(do_migrate, make_old, frozenset({"delta.txt"})),
}


# What is left.


def digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def contents(world: World) -> dict[str, Any]:
    """All that a library says, but for ids, moments and durations."""
    with world.open() as library:
        store = library.store
        documents = {}
        for document in store.documents():
            chunks = list(store.document_chunks(document.id))
            vector = store.document_vector(document.id)
            rows = store.chunk_embeddings([one.id for one in chunks])
            told = replace(document, id=0, added="", seconds=0.0)
            parts = (store.text(document.id), [one.chunk for one in chunks], store.pages(document.id), rows.tolist())
            documents[document.paths] = (
                told, *map(digest, parts), None if vector is None else digest(vector.tolist())
            )  # fmt: skip
        files = sorted((file.path, file.size, file.source_id is None) for file in store.files())
        return {"recipe": store.recipe, "documents": documents, "files": files, "schema": store.schema_version}


def assert_whole(world: World, before: dict[str, str], concerns: frozenset[str], texts: frozenset[str]) -> None:
    """The library opens and is sound; nothing is half made, and nothing is gone that the operation did not concern."""
    if not is_library(world.library):
        assert concerns == ALL, "the library is gone"
        return
    with world.open() as library:
        store = library.store
        wrong = [one.what for one in verify(library).findings if one.severity is not Severity.NOTE]
        wrong = [one for one in wrong if "cut by another version" not in one]
        assert not wrong, wrong
        now = {Path(path).name: store.text(one.id) for one in store.documents() for path in one.paths}
        strange = [one for one in store.documents() if store.text(one.id) not in texts]
        assert not strange, f"visible, but no version of any file: {'; '.join(map(described, strange))}"
        kept = {name: text for name, text in before.items() if name not in concerns}
        assert kept.items() <= now.items(), f"lost: {kept.keys() - now.keys()}"
        for document in store.documents():
            assert_found(library, document.id)
        assert (library.vectors.ids == store.chunk_ids()).all()


def described(document: StoredDocument) -> str:
    """A document in one line; a file that could not be read is told from a document that is half made."""
    names = ", ".join(Path(path).name for path in document.paths) or "at no path"
    return f"{names} ({document.status}: {document.reason or f'{document.chars} characters'})"


def assert_found(library: Library, document_id: int) -> None:
    """A document's chunk is found by its embedding and by its words."""
    chunk = next(library.store.document_chunks(document_id))
    query = library.encoder.encode_query([chunk.chunk.text])
    best = library.search_vectors(library.means.centre_queries(query, "en"), 1)
    assert best.scores[0, 0] > 0.99
    if library.store.lexical_is_current():
        words = [word for word in chunk.chunk.text.split()[:12] if word.isascii() and word.isalnum()]
        match = " AND ".join(f'"{word.lower()}"' for word in words)
        assert not words or chunk.id in {one.chunk_id for one in library.store.lexical(match, 1000)}


def leftovers(world: World) -> list[str]:
    """Files under passing names, which must be gone when the operation has been done again."""
    return [str(path) for path in world.place.rglob("*.tmp*")]


# Killing.


Library.flat_limit = 20
"""Some of these libraries are searched as large ones are, some as small ones, and some grow from one to the other."""


def child(operation: str, place: Path, kill_at: int, told: Any) -> None:
    """Do an operation, killed at the n-th named moment (0: never); tells the moments it came by."""
    moments: list[str] = []

    def hook(name: str) -> None:
        moments.append(name)
        if len(moments) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    faults.set_hook(hook)
    told.send("started")
    with without_workers():
        OPERATIONS[operation].do(World(place))
    told.send(moments)


# Every process is forked with the readers in it: one that imported them later would read by a tree changed meanwhile.
known_formats()
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.killing", "sqlite_utils", "faiss", "indexer.search.means"])


def run(operation: str, place: Path, kill_at: int = 0, after: float | None = None) -> tuple[int, list[str], float]:
    """Run an operation in its own process: its exit code (-9 when killed), its moments, and how long it took."""
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=child, args=(operation, place, kill_at, there))
    process.start()
    there.close()
    here.recv()
    started = time.monotonic()
    if after is not None:
        process.join(after)
        process.kill()
    moments: list[str] = []
    with contextlib.suppress(EOFError):  # it was killed before it could tell
        moments = here.recv()
    process.join(120)
    return process.exitcode or 0, moments, time.monotonic() - started


@dataclass(frozen=True)
class Undisturbed:
    """How an operation ends when nothing happens to it."""

    contents: dict[str, Any]
    moments: list[str]
    seconds: float


class Killer:
    """Plays rounds over copies of one world."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.start = build(place / "start")
        self.undisturbed: dict[str, Undisturbed] = {}
        names = ("alpha", "beta", "gamma", "delta", "alpha, second version")
        self.texts = frozenset([*map(text_of, names), *(text_of(name, 150) for name in ("epsilon", "zeta"))])

    def world(self, operation: str) -> World:
        """A fresh world, ready for an operation; always at the same path, which documents record."""
        world = World(self.place / "now")
        shutil.rmtree(world.place, ignore_errors=True)
        shutil.copytree(self.start.place, world.place)
        self._move(world)
        OPERATIONS[operation].first(world)
        return world

    def _move(self, world: World) -> None:
        """The copy's paths are those of the copy."""
        with Store.open(world.library) as store, store._connections.writing() as connection:
            for table in ("files", "sources"):
                connection.execute(
                    f"UPDATE {table} SET path = CAST(replace(CAST(path AS TEXT), ?, ?) AS BLOB)",
                    [str(self.start.place), str(world.place)],
                )

    def of(self, operation: str) -> Undisturbed:
        """The undisturbed end of an operation, found once."""
        if operation not in self.undisturbed:
            world = self.world(operation)
            code, moments, seconds = run(operation, world.place)
            assert code == 0, f"{operation} fails undisturbed"
            self.undisturbed[operation] = Undisturbed(contents(world), moments, seconds)
            assert not leftovers(world)
        return self.undisturbed[operation]

    def round(self, operation: str, kill_at: int = 0, after: float | None = None) -> bool:
        """Kill once, look, finish, look again; whether it was killed before it was done."""
        wanted = self.of(operation)
        world = self.world(operation)
        before = self._texts(world)
        code, _, _ = run(operation, world.place, kill_at, after)
        assert code in (0, -signal.SIGKILL), f"{operation} ended with {code}"
        assert_whole(world, before, OPERATIONS[operation].concerns, self.texts)
        if is_library(world.library):
            with writer_lock(world.library):
                pass  # the dead process holds no lock
        code, _, _ = run(operation, world.place)
        assert code == 0, f"{operation} cannot be done again"
        assert contents(world) == wanted.contents, "doing it again ends otherwise"
        assert_whole(world, {}, ALL, self.texts)
        if operation == "backup":
            check_copy(world.place / "new.backup")
        assert not leftovers(world), leftovers(world)
        return kill_at > 0 or after is not None

    def _texts(self, world: World) -> dict[str, str]:
        """The texts in a library, read from a copy of it: one of an older program stays as it is."""
        if not is_library(world.library):
            return {}
        copy = self.place / "looked at"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(world.library, copy)
        with Store.open(copy) as store:
            return {Path(path).name: store.text(one.id) for one in store.documents() for path in one.paths}


def plan(killer: Killer, rounds: int, seed: int, only: list[str]) -> Iterator[tuple[str, int, float | None]]:
    """Which operation is killed when: every named moment in a random order, and every fourth time at a random time."""
    draw = random.Random(seed)
    moments = [(name, number + 1) for name in only for number in range(len(killer.of(name).moments))]
    draw.shuffle(moments)
    for number in range(rounds):
        if number % 4 and moments:
            name, kill_at = moments.pop()
            yield name, kill_at, None
        else:
            name = draw.choice(only)
            yield name, 0, draw.uniform(0, 1.1) * killer.of(name).seconds
