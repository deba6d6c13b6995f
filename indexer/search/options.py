"""How a search is to be done, and its filters as a person writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from indexer.datatypes import Mode
from indexer.errors import QueryError
from indexer.search.query import is_date, language_code
from indexer.store.records import DocumentFilter


class Grouping(StrEnum):
    """What a hit stands for: a document by its best chunk, or each chunk by itself."""

    DOCUMENT = "document"
    CHUNK = "chunk"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a search is to be done.

    ``where`` are filters ``FIELD=VALUE`` (values of one field are alternatives, fields add up); ``document`` searches
    inside one document; ``across`` leaves the words aside, for documents in another language than the query (None:
    where that is better); ``more`` and ``less`` are ids of chunks that are good or bad examples.
    """

    k: int = 10
    mode: Mode = Mode.HYBRID
    by: Grouping = Grouping.DOCUMENT
    where: tuple[str, ...] = ()
    across: bool | None = None
    document: int | None = None
    more: tuple[int, ...] = ()
    less: tuple[int, ...] = ()
    fold_copies: bool = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise QueryError(f"The number of hits must be at least 1, not {self.k}.")


_FIELDS = {
    "source": "sources", "folder": "sources", "path": "path_parts", "type": "types", "language": "languages",
    "lang": "languages", "tag": "tags", "status": "statuses", "title": "titles", "after": "date_from",
    "before": "date_to", "id": "ids", "document": "ids",
}  # fmt: skip
FILTER_FIELDS = ("source", "path", "type", "language", "tag", "status", "title", "after", "before", "id", "cluster")


def parse_filters(where: Iterable[str], start: DocumentFilter | None = None) -> DocumentFilter:
    """Filters ``FIELD=VALUE`` as a document filter, added to ``start``.

    Raises QueryError, naming the fields there are, for one that cannot be understood. ``cluster`` is not among them:
    its members are the library's to know.
    """
    wanted = start or DocumentFilter()
    for one in where:
        field, separator, value = one.partition("=")
        name = _FIELDS.get(field.strip().lower())
        if not separator or name is None or not value.strip():
            raise QueryError(f"The filter {one!r} is not FIELD=VALUE with a field of {', '.join(FILTER_FIELDS)}.")
        wanted = _with(wanted, name, field, value.strip())
    return wanted


def _with(wanted: DocumentFilter, name: str, field: str, value: str) -> DocumentFilter:
    if name in ("date_from", "date_to"):
        if not is_date(value):
            raise QueryError(f"{field} wants a date such as 2024, 2024-05 or 2024-05-31, not {value!r}.")
        changed: Any = value
    elif name == "ids":
        if not value.isdigit():
            raise QueryError(f"{field} wants a document's number as `longdoc list` shows it, not {value!r}.")
        changed = (*wanted.ids, int(value))
    else:
        changed = (*getattr(wanted, name), language_code(value) if name == "languages" else value)
    return replace(wanted, **{name: changed})
