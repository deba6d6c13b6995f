"""What the store hands out beside the shared types: small frozen records, none of which speaks of SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from indexer.datatypes import OffsetMap, Recipe, Span, Status, Vector


@dataclass(frozen=True, slots=True)
class Source:
    """A folder or file that was added, to which ``sync`` goes back."""

    id: int
    path: str
    added: str


@dataclass(frozen=True, slots=True)
class UnreadVersion:
    """Why what lies at a path now could not be read, where the document is that of the version before."""

    status: Status
    reason: str | None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Where a document lies: one path of perhaps several, as it was when it was last looked into."""

    path: str
    document_id: int
    source_id: int | None
    size: int
    mtime_ns: int
    unread: UnreadVersion | None = None


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page, or a stretch of a text without pages; ``span`` counts in the document's text."""

    position: int
    number: int | None
    label: str | None
    span: Span
    offsets: OffsetMap
    language: str = "und"
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a library holds; ``chunks`` are those of the recipe in use."""

    documents: int
    chunks: int
    embeddings: int
    bytes: int
    by_status: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LexicalMatch:
    """A chunk that shares words with a query; ``score`` is BM25, higher is better."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class LanguageMean:
    """The mean embedding of a language's chunks (not of unit length), and how many chunks it is made of."""

    language: str
    chunk_count: int
    mean: Vector


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run of ``add`` or ``sync`` did, for the library's history; ``started`` is ISO 8601."""

    started: str
    seconds: float
    added: int
    updated: int
    unchanged: int
    failed: int
    removed: int
    tokens: int
    encoded_tokens: int
    peak_rss_mb: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens encoded a second over the whole run."""
        return self.encoded_tokens / self.seconds if self.seconds > 0 else 0.0


class RecipeState(StrEnum):
    """Whether a recipe's chunks are the ones searched, still being made, or kept to go back to."""

    ACTIVE = "active"
    BUILDING = "building"
    PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class StoredRecipe:
    """A recipe with chunks in this library."""

    id: int
    recipe: Recipe
    state: RecipeState
    created: str
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as it was found on disk: one of the paths at which a document lies."""

    path: str
    size: int
    mtime_ns: int
    source_id: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Which documents may be found: any of the values inside a field, all of the fields that name any.

    Dates are ISO 8601 prefixes (``2024``, ``2024-05``) compared with the document's own date, ``date_from`` and
    ``date_to`` both included. A type is a media type, its beginning (``text/``) or a file name's ending (``pdf``); a
    language also matches its regional forms (``zh`` finds ``zh-Hant``). ``sources`` and ``paths`` are path prefixes
    that end at a folder's border; ``path_parts`` and ``titles`` stand anywhere in a path or title, whatever their
    case; a document without a title has its file's name for one.
    """

    ids: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    date_from: str | None = None
    date_to: str | None = None
    titles: tuple[str, ...] = ()
    path_parts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__dataclass_fields__)
