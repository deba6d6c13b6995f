"""Keeping the file itself: checks of what it holds, copies of it, and giving space back."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.datatypes import Span, Status
from indexer.errors import DamagedError, LibraryError
from indexer.faults import fault_point
from indexer.lexical import index_text
from indexer.store.changes import bump_generation, count_languages
from indexer.store.chunks import read_text
from indexer.store.connection import translated
from indexer.store.fulltext import cut_words
from indexer.store.recipes import Recipes
from indexer.store.records import RecipeState
from indexer.store.schema import APPLICATION_ID, SCHEMA_VERSION, lexical_table, vocabulary_table
from indexer.store.values import to_ids
from indexer.store.writing import Writing
from indexer.windows import is_key_of

NORM_TOLERANCE = 0.01
"""How far from 1 an embedding's length may be: float16 keeps three digits of each number."""


COUNTED = 50_000
"""Chunks up to which every word of the full-text table is counted; that takes about a minute then."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What ``prune`` took away; ``bytes`` is what the file shrank by."""

    embeddings: int
    recipes: int
    unfinished: int
    bytes: int


class Upkeep(Recipes, Writing):
    """Checks, each of which tells what it found wrong, and the repairs of what can be derived again."""

    def check_file(self) -> list[str]:
        """What SQLite itself finds wrong with the file and its references; empty when it is sound."""
        try:
            found = [row[0] for row in self._connections.rows("PRAGMA integrity_check(20)") if row[0] != "ok"]
            broken = self._connections.rows("PRAGMA foreign_key_check")
        except DamagedError as error:
            return [str(error.__cause__)]
        return found + [f"a row of {row[0]} refers to a row of {row[2]} that is not there" for row in broken[:20]]

    def check_document(self, document_id: int) -> list[str]:
        """What is wrong with one document's pages, text, chunks and embeddings; empty when it is whole."""
        try:
            with self._connections.reading() as connection:
                return list(self._document_faults(connection, document_id))
        except (DamagedError, ValueError):
            return ["it cannot be read"]

    def _document_faults(self, connection: sqlite3.Connection, document_id: int) -> Iterator[str]:
        row = connection.execute("SELECT chars, status FROM documents WHERE id = ?", [document_id]).fetchone()
        chars, status = row["chars"], Status(row["status"])
        text = read_text(connection, document_id, Span(0, 2**53))
        pages = connection.execute("SELECT max(end) FROM pages WHERE document_id = ?", [document_id]).fetchone()[0]
        indexed = connection.execute("SELECT * FROM indexed WHERE document_id = ?", [document_id]).fetchall()
        if not indexed and not status.searchable:
            return
        if len(text) != chars:
            yield f"its text has {len(text)} characters of {chars}"
        if pages is not None and pages != chars:
            yield f"its pages end at {pages}, its text at {chars}"
        for recipe in indexed:
            yield from self._chunk_faults(connection, recipe, text)

    def _chunk_faults(self, connection: sqlite3.Connection, indexed: sqlite3.Row, text: str) -> Iterator[str]:
        recipe, place, count = self.recipe_of(indexed["recipe_id"]), 0, 0
        for row in connection.execute(
            "SELECT c.*, e.vector, e.text_hash FROM chunks c LEFT JOIN embeddings e ON e.id = c.embedding_id "
            "WHERE c.document_id = ? AND c.recipe_id = ? ORDER BY c.position",
            [indexed["document_id"], indexed["recipe_id"]],
        ):
            name = f"chunk {row['id']}"
            if row["start"] != place or row["position"] != count:
                yield f"{name} begins at {row['start']}, not at {place}"
            place, count = row["end"], count + 1
            if row["vector"] is None:
                yield f"{name} has no embedding"
                continue
            if not is_key_of(row["text_hash"], text[row["start"] : row["end"]], windowed=recipe.window > 0):
                yield f"{name} has another text than the one that was encoded"
            if len(row["vector"]) != 2 * recipe.dimension:
                yield f"{name} has an embedding of {len(row['vector'])} bytes, not {2 * recipe.dimension}"
                continue
            length = float(np.linalg.norm(np.frombuffer(row["vector"], "<f2").astype(np.float32)))
            if not abs(length - 1) < NORM_TOLERANCE:  # also true of what is not a number
                yield f"{name} has an embedding of length {length:.3f}, not 1"
        if count != indexed["chunk_count"] or place != len(text):
            yield f"it has {count} chunks of {indexed['chunk_count']}, up to {place} of {len(text)}"

    def check_lexical(self, sample: int = 300) -> list[str]:
        """What is wrong with the full-text table: its form, its rows, and whether sampled chunks are found in it."""
        recipe_id = self.recipe_id
        table = lexical_table(recipe_id)
        found: list[str] = []
        try:
            rows = to_ids(self._connections.rows(f"SELECT id FROM {table}_docsize"))
            chunks = self.visible_chunks(recipe_id)
            if missing := len(np.setdiff1d(chunks, rows)):
                found.append(f"{missing} chunks are not in the full-text table")
            if extra := len(np.setdiff1d(rows, chunks)):
                found.append(f"the full-text table has {extra} rows that belong to no chunk")
            random = np.random.default_rng(0)
            for chunk_id in random.choice(chunks, min(sample, len(chunks)), replace=False).tolist():
                found.extend(self._unfindable(table, chunk_id))
            if len(chunks) <= COUNTED and (wrong := self._words_counted_wrong(recipe_id)):
                found.append(f"the full-text table has {wrong} words in other numbers than the texts")
        except DamagedError as error:
            found.append(f"the full-text table is damaged ({error.__cause__})")
        return found[:20]

    def _words_counted_wrong(self, recipe_id: int) -> int:
        """How many words stand in the full-text table more or less often than in the texts.

        A letter that flipped there leaves a table that is sound to SQLite, and a word nobody finds.
        """
        wanted: Counter[str] = Counter()
        with self._connections.reading() as connection:
            for row in connection.execute(
                "SELECT document_id FROM indexed WHERE recipe_id = ?", [recipe_id]
            ).fetchall():
                for _, text in cut_words(connection, recipe_id, row[0]):
                    wanted.update(text.split())
            kept = connection.execute(f"SELECT term, cnt FROM {vocabulary_table(recipe_id)}")
            return len({(row[0], row[1]) for row in kept} ^ set(wanted.items()))

    def _unfindable(self, table: str, chunk_id: int) -> Iterator[str]:
        row = self._connections.row("SELECT document_id, start, end FROM chunks WHERE id = ?", [chunk_id])
        if row is None:
            return
        with self._connections.reading() as connection:
            text = read_text(connection, row["document_id"], Span(row["start"], row["end"]))
        terms = list(dict.fromkeys(index_text(text).split()))[:5]
        match = " AND ".join('"' + term.replace('"', '""') + '"' for term in terms)
        if (
            match
            and self._connections.row(f"SELECT 1 FROM {table} WHERE {table} MATCH ? AND rowid = ?", [match, chunk_id])
            is None
        ):
            yield f"chunk {chunk_id} is not found by its own words"

    def unfinished(self) -> int:
        """How many documents a killed writer left half written; the next writer drops them."""
        return int(self._connections.value("SELECT count(*) FROM documents WHERE visible = 0"))

    def check_languages(self) -> list[str]:
        """Languages whose running means do not stand on the chunks there are."""
        counted = self._per_language(
            "SELECT c.language, count(*) FROM indexed i CROSS JOIN chunks c ON c.document_id = i.document_id "
            "AND c.recipe_id = ?1 WHERE i.recipe_id = ?1 GROUP BY c.language"
        )
        kept = self._per_language("SELECT language, chunk_count FROM languages WHERE recipe_id = ? AND chunk_count > 0")
        return [
            f"the mean of {language!r} stands on {kept.get(language, 0)} chunks of {counted.get(language, 0)}"
            for language in sorted({*counted, *kept})
            if counted.get(language, 0) != kept.get(language, 0)
        ]

    def _per_language(self, sql: str) -> dict[str, int]:
        return {row[0]: row[1] for row in self._connections.rows(sql, [self.recipe_id])}

    def rebuild_languages(self) -> None:
        """Make the sums behind the language means anew from the chunks."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM languages")
            for document_id, recipe_id in connection.execute("SELECT document_id, recipe_id FROM indexed").fetchall():
                count_languages(connection, recipe_id, document_id, sign=1)
            fault_point("store.rebuild_languages")

    def prune(self, *, keep_recipes: bool = False) -> Pruned:
        """Drop what nothing refers to any more and give its space back to the disk.

        Embeddings of no chunk, recipes not in use (unless they are to be kept), the log of removals (vector indexes
        that have not followed it to this moment are made anew) and what killed writers left.
        """
        before = self.path.stat().st_size
        recipes = [] if keep_recipes else [one.id for one in self.recipes() if one.state is not RecipeState.ACTIVE]
        unfinished = self.discard_unfinished()
        for recipe_id in recipes:
            self.drop_recipe(recipe_id)
        with self._connections.writing() as connection:
            embeddings = connection.execute(
                "DELETE FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE embedding_id = embeddings.id)"
            ).rowcount
            connection.execute("DELETE FROM removals")
            connection.execute(
                "INSERT OR REPLACE INTO meta SELECT 'removals_since', value FROM meta WHERE key = 'generation'"
            )
            bump_generation(connection)
            connection.execute(
                f"INSERT INTO {lexical_table(self.recipe_id)}({lexical_table(self.recipe_id)}) VALUES ('optimize')"
            )
            fault_point("store.prune")
        with translated(self.path):
            self._connections.get().execute("VACUUM")
            self._connections.get().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        fault_point("store.pruned")
        return Pruned(embeddings, len(recipes), unfinished, max(0, before - self.path.stat().st_size))

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy of the library to a file that is empty or not there; a writer may go on meanwhile."""
        with translated(path):
            self._connections.get().execute("VACUUM INTO ?", [str(path)])
        fault_point("store.copied")

    def set_aside_log(self) -> None:
        """Leave everything in the one file: the write-ahead log is emptied and not used until the file is opened."""
        with translated(self.path):
            self._connections.get().execute("PRAGMA journal_mode = DELETE")

    def replace_with(self, path: Path) -> None:
        """Put the content of a checked copy in the place of this library's, in one transaction; readers go on."""
        with translated(self.path), contextlib.closing(sqlite3.connect(path)) as source:
            source.backup(self._connections.get(), pages=-1, progress=lambda *_: fault_point("store.replace"))
        fault_point("store.replaced")
        with translated(self.path):
            # Whatever happens to the file from here on happens through this log again.
            self._connections.get().execute("PRAGMA journal_mode = WAL")


def check_copy(path: Path) -> None:
    """Raise DamagedError or LibraryError unless a file is a whole library that this program can read."""
    location = f"file:{path.absolute()}?mode=ro&immutable=1"
    with translated(path), contextlib.closing(sqlite3.connect(location, uri=True)) as connection:
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if mark != APPLICATION_ID:
            raise LibraryError(f"{path} is not a backup of a longdoc library.")
        if version > SCHEMA_VERSION:
            raise LibraryError(f"{path} was written by a newer longdoc (schema {version}): update longdoc.")
        wrong = [row[0] for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
        wrong += [str(tuple(row)) for row in connection.execute("PRAGMA foreign_key_check").fetchmany(5)]
    if wrong:
        raise DamagedError(f"{path} is damaged ({'; '.join(wrong)}); nothing was restored from it.")
