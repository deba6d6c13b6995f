"""The library's tables as numbered migrations, and the statements that make a recipe's own tables."""

from __future__ import annotations

import sqlite3

from indexer.errors import LibraryError
from indexer.faults import fault_point

SCHEMA_VERSION = 3
"""The number of migrations below; kept in ``PRAGMA user_version`` so that a look at it needs no migration library."""

APPLICATION_ID = 0x4C6F6E67
"""``Long``: marks the file as a longdoc library, whatever it is called."""

_INITIAL = """
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', '0');

CREATE TABLE encoders (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  fingerprint TEXT NOT NULL,
  document_prompt TEXT NOT NULL,
  pooling TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  UNIQUE (fingerprint, document_prompt, pooling)
);

CREATE TABLE recipes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  encoder_id INTEGER NOT NULL REFERENCES encoders (id),
  state TEXT NOT NULL CHECK (state IN ('active', 'building', 'previous')),
  recipe TEXT NOT NULL,
  index_text_version TEXT NOT NULL,
  created TEXT NOT NULL
);
CREATE UNIQUE INDEX one_active_recipe ON recipes (state) WHERE state = 'active';

CREATE TABLE sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path BLOB NOT NULL UNIQUE,
  added TEXT NOT NULL
);

CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  visible INTEGER NOT NULL DEFAULT 0,
  sha256 TEXT,
  bytes INTEGER NOT NULL DEFAULT 0,
  media_type TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT '',
  reason TEXT,
  title TEXT NOT NULL DEFAULT '',
  author TEXT,
  created TEXT,
  modified TEXT,
  language TEXT NOT NULL DEFAULT 'und',
  page_count INTEGER,
  chars INTEGER NOT NULL DEFAULT 0,
  coverage REAL NOT NULL DEFAULT 0,
  unread_pages TEXT NOT NULL DEFAULT '[]',
  remarks TEXT NOT NULL DEFAULT '[]',
  added TEXT NOT NULL,
  seconds REAL NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX documents_by_sha256 ON documents (sha256) WHERE visible = 1 AND sha256 IS NOT NULL;

CREATE TABLE files (
  path BLOB PRIMARY KEY,
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  source_id INTEGER REFERENCES sources (id) ON DELETE SET NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX files_by_document ON files (document_id);
CREATE INDEX files_by_source ON files (source_id);

CREATE TABLE tags (
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  PRIMARY KEY (document_id, name)
) WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags (name);

CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  text TEXT NOT NULL
);
CREATE UNIQUE INDEX texts_by_document ON texts (document_id, start);

CREATE TABLE pages (
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  number INTEGER,
  label TEXT,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  language TEXT NOT NULL,
  unread TEXT,
  original_length INTEGER NOT NULL,
  runs BLOB,
  PRIMARY KEY (document_id, position)
);

CREATE TABLE headings (
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  level INTEGER NOT NULL,
  title TEXT NOT NULL,
  start INTEGER NOT NULL,
  PRIMARY KEY (document_id, position)
);

CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  encoder_id INTEGER NOT NULL REFERENCES encoders (id),
  text_hash BLOB NOT NULL,
  vector BLOB NOT NULL
);
CREATE UNIQUE INDEX embeddings_by_text ON embeddings (encoder_id, text_hash);

CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  recipe_id INTEGER NOT NULL REFERENCES recipes (id),
  position INTEGER NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  first_page INTEGER,
  last_page INTEGER,
  language TEXT NOT NULL,
  headings TEXT,
  embedding_id INTEGER NOT NULL REFERENCES embeddings (id)
);
CREATE UNIQUE INDEX chunks_by_document ON chunks (document_id, recipe_id, position);
CREATE INDEX chunks_by_embedding ON chunks (embedding_id);

CREATE TABLE indexed (
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  recipe_id INTEGER NOT NULL REFERENCES recipes (id),
  generation INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  vector BLOB,
  PRIMARY KEY (recipe_id, document_id)
) WITHOUT ROWID;
CREATE INDEX indexed_by_generation ON indexed (recipe_id, generation);
CREATE INDEX indexed_by_document ON indexed (document_id);

CREATE TABLE languages (
  recipe_id INTEGER NOT NULL REFERENCES recipes (id),
  language TEXT NOT NULL,
  chunk_count INTEGER NOT NULL,
  total BLOB NOT NULL,
  PRIMARY KEY (recipe_id, language)
) WITHOUT ROWID;

CREATE TABLE removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  recipe_id INTEGER NOT NULL REFERENCES recipes (id),
  generation INTEGER NOT NULL,
  chunk_ids BLOB NOT NULL
);
CREATE INDEX removals_by_generation ON removals (recipe_id, generation);
"""

_RUNS = """
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started TEXT NOT NULL,
  seconds REAL NOT NULL,
  added INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  encoded_tokens INTEGER NOT NULL,
  peak_rss_mb REAL NOT NULL
);
"""

_UNREAD_VERSIONS = """
CREATE TABLE unread_versions (
  path BLOB PRIMARY KEY REFERENCES files (path) ON DELETE CASCADE,
  status TEXT NOT NULL,
  reason TEXT
) WITHOUT ROWID;
"""


def lexical_table(recipe_id: int) -> str:
    """The name of a recipe's full-text table; its row ids are chunk ids."""
    return f"lexical_{int(recipe_id)}"


def vocabulary_table(recipe_id: int) -> str:
    """The name of the table that lists the terms of a recipe's full-text table."""
    return f"{lexical_table(recipe_id)}_terms"


def drop_lexical_table(connection: sqlite3.Connection, recipe_id: int) -> None:
    """Drop what ``create_lexical_table`` makes."""
    connection.execute(f"DROP TABLE IF EXISTS {vocabulary_table(recipe_id)}")
    connection.execute(f"DROP TABLE IF EXISTS {lexical_table(recipe_id)}")


def create_lexical_table(connection: sqlite3.Connection, recipe_id: int) -> None:
    """Make a recipe's full-text table, and the list of its terms.

    It keeps no text of its own (``content=''``): rows are added and taken away with the text that ``index_text`` cuts,
    so the same function must cut both times; its version is recorded with the recipe.
    """
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {lexical_table(recipe_id)} USING fts5"
        "(text, content='', tokenize=\"ascii\")"
    )
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {vocabulary_table(recipe_id)} "
        f"USING fts5vocab({lexical_table(recipe_id)}, 'row')"
    )


def schema_version(connection: sqlite3.Connection) -> int:
    """How many migrations the file has seen; raises LibraryError when it is not a longdoc library."""
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if mark not in (0, APPLICATION_ID):
        raise LibraryError("This SQLite file belongs to another program; it is not a longdoc library.")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection) -> list[str]:
    """Bring the tables up to this program's version; each migration is one transaction. Returns their names.

    ``sqlite_utils`` (which imports pandas where that is installed) is loaded only when there is something to do.
    """
    from sqlite_utils import Database, Migrations

    migrations = Migrations("longdoc")
    done: list[str] = []

    def step(number: int, script: str) -> None:
        def apply(database: Database) -> None:
            database.executescript(script)
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {number}")
            fault_point("store.migrating")
            done.append(f"{number:04d}")

        migrations(name=f"{number:04d}")(apply)

    for number, script in enumerate(_SCRIPTS, start=1):
        step(number, script)
    migrations.apply(Database(connection))
    fault_point("store.migrated")
    return done


_SCRIPTS: tuple[str, ...] = (_INITIAL, _RUNS, _UNREAD_VERSIONS)
