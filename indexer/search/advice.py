"""What a person is told beside the hits: what to try when nothing was found, what could not be searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from indexer.datatypes import Mode
from indexer.lexical import query_terms
from indexer.search.options import SearchOptions
from indexer.search.plan import Plan
from indexer.search.query import Query


def suggestions(query: Query, planned: Plan, options: SearchOptions) -> Iterator[str]:
    """What a person may try when nothing relevant was found."""
    if query.filter or options.where or options.document is not None:
        yield "Search without the filters."
    if query.excluded:
        yield "Allow the excluded words again."
    if planned.mode is Mode.LEXICAL:
        yield "Search by meaning too (mode hybrid)."
    if len(query_terms(query.text)) > 6:
        yield "Use fewer words: those that the passage would have."
    else:
        yield "Use other words, or describe in a sentence what the passage says."
    yield "See with `longdoc list` whether the document is in the library and could be read."


def unread_warning(by_status: Mapping[str, int]) -> Iterable[str]:
    """The sentence that says how many documents a search could not look into."""
    reasons = {
        "needs_ocr": "scanned without text", "encrypted": "locked by a password", "unsupported": "of an unknown kind",
        "failed": "damaged", "too_large": "too large", "timed_out": "too slow to read", "empty": "empty",
    }  # fmt: skip
    unread = {reason: by_status[status] for status, reason in reasons.items() if by_status.get(status)}
    total = sum(unread.values())
    if total:
        listed = ", ".join(f"{count} {reason}" for reason, count in unread.items())
        noun = "document was" if total == 1 else "documents were"
        yield f"{total} {noun} not searched because nothing could be read ({listed})."
    if partial := by_status.get("partial"):
        noun = "document was" if partial == 1 else "documents were"
        yield f"{partial} {noun} searched only in part: some pages could not be read."
