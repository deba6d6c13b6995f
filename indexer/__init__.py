"""longdoc's engine: read, chunk, encode, store, search and compare long documents on an ordinary CPU.

Everything public is named in ``__all__`` and loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for type checkers, which cannot follow __getattr__; tests/test_init.py compares
    from indexer.datatypes import (
        Chunk as Chunk,
        Document as Document,
        Encoder as Encoder,
        FileReport as FileReport,
        Hit as Hit,
        Mode as Mode,
        Page as Page,
        Recipe as Recipe,
        Rectangle as Rectangle,
        RunReport as RunReport,
        SearchResult as SearchResult,
        Span as Span,
        Status as Status,
        StoredDocument as StoredDocument,
    )
    from indexer.duplicates import (
        Boilerplate as Boilerplate,
        ChunkMatch as ChunkMatch,
        Comparison as Comparison,
        Difference as Difference,
        DuplicateOptions as DuplicateOptions,
        DuplicateReport as DuplicateReport,
        Fact as Fact,
        Group as Group,
        Overlap as Overlap,
        Pair as Pair,
        Relation as Relation,
        compare as compare,
        find_duplicates as find_duplicates,
        overlap_of as overlap_of,
        write_csv as write_csv,
    )
    from indexer.errors import (
        LibraryNotFoundError as LibraryNotFoundError,
        LongdocError as LongdocError,
        PageError as PageError,
    )
    from indexer.parse.options import ReadOptions as ReadOptions
    from indexer.parse.viewing import locate_text as locate_text, render_page as render_page
    from indexer.passwords import (
        Role as Role,
        load_passwords as load_passwords,
        password_matches as password_matches,
        store_password as store_password,
    )
    from indexer.search import (
        Grouping as Grouping,
        SearchOptions as SearchOptions,
        more_like as more_like,
        neighbours as neighbours,
        search_library as search_library,
    )
    from indexer.settings import (
        Settings as Settings,
        load_settings as load_settings,
        passwords_path as passwords_path,
    )

_HOMES: dict[str, str] = {
    "Chunk": "datatypes",
    "Document": "datatypes",
    "Boilerplate": "duplicates",
    "ChunkMatch": "duplicates",
    "Comparison": "duplicates",
    "Difference": "duplicates",
    "DuplicateOptions": "duplicates",
    "DuplicateReport": "duplicates",
    "Fact": "duplicates",
    "Group": "duplicates",
    "Overlap": "duplicates",
    "Pair": "duplicates",
    "Relation": "duplicates",
    "compare": "duplicates",
    "find_duplicates": "duplicates",
    "overlap_of": "duplicates",
    "write_csv": "duplicates",
    "Encoder": "datatypes",
    "FileReport": "datatypes",
    "Grouping": "search",
    "Hit": "datatypes",
    "LibraryNotFoundError": "errors",
    "LongdocError": "errors",
    "Mode": "datatypes",
    "Page": "datatypes",
    "PageError": "errors",
    "ReadOptions": "parse.options",
    "Recipe": "datatypes",
    "Rectangle": "datatypes",
    "RunReport": "datatypes",
    "Role": "passwords",
    "SearchOptions": "search",
    "SearchResult": "datatypes",
    "Settings": "settings",
    "Span": "datatypes",
    "Status": "datatypes",
    "StoredDocument": "datatypes",
    "more_like": "search",
    "neighbours": "search",
    "search_library": "search",
    "load_passwords": "passwords",
    "load_settings": "settings",
    "locate_text": "parse.viewing",
    "password_matches": "passwords",
    "passwords_path": "settings",
    "render_page": "parse.viewing",
    "store_password": "passwords",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
