"""What this machine's SQLite can do, for the doctor."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SqliteFacts:
    """The library's version and whether full-text search (FTS5) works."""

    version: tuple[int, int, int]
    fulltext: bool


def sqlite_facts() -> SqliteFacts:
    """Ask the SQLite that Python was built with, by trying FTS5 rather than by its list of options."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
            connection.execute("INSERT INTO words VALUES ('found')")
            fulltext = bool(connection.execute("SELECT count(*) FROM words WHERE words MATCH 'found'").fetchone()[0])
        except sqlite3.OperationalError:
            fulltext = False
    return SqliteFacts(sqlite3.sqlite_version_info, fulltext)
