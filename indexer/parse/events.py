"""What reading a document yields, one after the other: Opened, its pages, and at last its Document."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.datatypes import Document, Page


@dataclass(frozen=True, slots=True)
class Opened:
    """A document has been opened: what it is and, where it has pages, how many."""

    media_type: str
    page_count: int | None = None


Event = Opened | Page | Document
