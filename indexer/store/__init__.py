"""All that is kept of a library, in one SQLite file; the only room that speaks SQL."""

from indexer.store.facts import SqliteFacts, sqlite_facts
from indexer.store.keep import FILE_NAME, Store, is_library, is_outdated
from indexer.store.records import (
    Counts,
    DocumentFilter,
    FoundFile,
    LanguageMean,
    LexicalMatch,
    RecipeState,
    Source,
    StoredFile,
    StoredPage,
    StoredRecipe,
    StoredRun,
    UnreadVersion,
)
from indexer.store.upkeep import Pruned, check_copy
from indexer.store.writers import DocumentWriter, RecipeWriter

__all__ = [
    "FILE_NAME",
    "Counts",
    "DocumentFilter",
    "DocumentWriter",
    "FoundFile",
    "LanguageMean",
    "LexicalMatch",
    "Pruned",
    "RecipeState",
    "RecipeWriter",
    "Source",
    "SqliteFacts",
    "Store",
    "StoredFile",
    "StoredPage",
    "StoredRecipe",
    "StoredRun",
    "UnreadVersion",
    "check_copy",
    "is_library",
    "is_outdated",
    "sqlite_facts",
]
