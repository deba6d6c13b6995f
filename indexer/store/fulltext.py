"""The full-text side: one FTS5 table a recipe, cut by ``indexer.lexical`` and kept in step with the chunks."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator

from indexer.datatypes import Ids, Span
from indexer.faults import fault_point
from indexer.lexical import index_text
from indexer.store.chunks import read_text
from indexer.store.part import Part
from indexer.store.records import LexicalMatch
from indexer.store.schema import create_lexical_table, drop_lexical_table, lexical_table, vocabulary_table
from indexer.store.values import json_ids, to_ids

_PROBE = (
    "The PPR-9087's naïve café, § 4.2(b), co-operation of 1,234.5 kg ﬁnal Ａ① İstanbul Straße "
    "向量数据库，ベクトル検索 한국어의 ภาษาไทย हिन्दी עברית العربية Ελληνικά русский ⼈"
)


def index_text_version() -> str:
    """Names how this program cuts text: a library whose rows were cut another way has them made anew."""
    return hashlib.blake2b(index_text(_PROBE).encode(), digest_size=8).hexdigest()


class FullText(Part):
    """Searching the words of chunks."""

    def lexical(
        self, match: str, limit: int, allowed_documents: Iterable[int] | Ids | None = None
    ) -> list[LexicalMatch]:
        """The chunks that match an FTS5 expression, best first by BM25; ``match`` comes from ``indexer.lexical``.

        ``allowed_documents`` restricts the search before it is ranked and cut to ``limit``.
        """
        if not match:
            return []
        recipe_id = self.recipe_id
        table = lexical_table(recipe_id)
        if allowed_documents is None:
            sql = f"SELECT rowid, rank FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?"
            rows = self._connections.rows(sql, [match, limit])
        else:
            # The plus keeps SQLite from looking every allowed chunk up in the full-text table, one by one: with half of
            # 100,000 chunks allowed that took 22 s, so it takes 0.05.
            sql = (
                f"SELECT rowid, rank FROM {table} WHERE {table} MATCH ? AND +rowid IN "
                "(SELECT c.id FROM json_each(?) j CROSS JOIN chunks c ON c.document_id = j.value AND c.recipe_id = ?) "
                "ORDER BY rank LIMIT ?"
            )
            rows = self._connections.rows(sql, [match, json_ids(allowed_documents), recipe_id, limit])
        return [LexicalMatch(row[0], -row[1]) for row in rows]

    def lexical_ids(self, match: str, limit: int) -> Ids:
        """Up to ``limit`` chunks that match an FTS5 expression, unranked (by id)."""
        table = lexical_table(self.recipe_id)
        return to_ids(
            self._connections.rows(f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?", [match, limit])
        )

    def term_counts(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many chunks each of the terms (as ``index_text`` cuts them) stands; those in none are left out."""
        rows = self._connections.rows(
            f"SELECT term, doc FROM {vocabulary_table(self.recipe_id)} WHERE term IN (SELECT value FROM json_each(?))",
            [json.dumps(list(terms), ensure_ascii=False)],
        )
        return {row[0]: row[1] for row in rows}

    def vocabulary(self, beginning: str, shortest: int, longest: int) -> dict[str, int]:
        """The indexed terms with a beginning and of some length, with the number of chunks each stands in."""
        rows = self._connections.rows(
            f"SELECT term, doc FROM {vocabulary_table(self.recipe_id)} "
            "WHERE term >= ?1 AND term < ?1 || char(1114111) AND length(term) BETWEEN ?2 AND ?3",
            [beginning, shortest, longest],
        )
        return {row[0]: row[1] for row in rows}

    def lexical_is_current(self) -> bool:
        """Whether the rows were cut the way this program cuts text."""
        version = self._connections.value("SELECT index_text_version FROM recipes WHERE id = ?", [self.recipe_id])
        return bool(version == index_text_version())

    def rebuild_lexical(self) -> None:
        """Make the full-text tables of all recipes anew from the chunks, in one transaction."""
        with self._connections.writing() as connection:
            for (recipe_id,) in connection.execute("SELECT id FROM recipes").fetchall():
                drop_lexical_table(connection, recipe_id)
                create_lexical_table(connection, recipe_id)
                documents = connection.execute("SELECT document_id FROM indexed WHERE recipe_id = ?", [recipe_id])
                for (document_id,) in documents.fetchall():
                    add_words(connection, recipe_id, document_id)
                    fault_point("store.rebuild_lexical")
            connection.execute("UPDATE recipes SET index_text_version = ?", [index_text_version()])


def add_words(connection: sqlite3.Connection, recipe_id: int, document_id: int) -> None:
    """Put a document's chunks into a recipe's full-text table."""
    table = lexical_table(recipe_id)
    connection.executemany(
        f"INSERT INTO {table}(rowid, text) VALUES (?, ?)", cut_words(connection, recipe_id, document_id)
    )


def remove_words(connection: sqlite3.Connection, recipe_id: int, document_id: int) -> None:
    """Take a document's chunks out of a recipe's full-text table."""
    table = lexical_table(recipe_id)
    connection.executemany(
        f"INSERT INTO {table}({table}, rowid, text) VALUES ('delete', ?, ?)",
        cut_words(connection, recipe_id, document_id),
    )


def cut_words(connection: sqlite3.Connection, recipe_id: int, document_id: int) -> Iterator[tuple[int, str]]:
    """The ids of a document's chunks, and their texts as they go into the full-text table."""
    for row in connection.execute(
        "SELECT id, start, end FROM chunks WHERE document_id = ? AND recipe_id = ? ORDER BY position",
        [document_id, recipe_id],
    ):
        yield row["id"], index_text(read_text(connection, document_id, Span(row["start"], row["end"])))
