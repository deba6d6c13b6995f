"""A report of duplicates as a table: one row a document of a group, for a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from indexer.datatypes import StoredDocument
from indexer.duplicates.results import DuplicateReport, Group, Relation
from indexer.errors import LongdocError

COLUMNS = (
    "group", "relation", "document", "title", "path", "keep", "reason",
    "compared_with", "similarity", "share_in_other", "share_of_other", "shared_chunks",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(report: DuplicateReport, path: Path) -> None:
    """Write the report as UTF-8 with a byte order mark, so that Excel shows Chinese; raises LongdocError."""
    try:
        with path.open("w", encoding="utf-8-sig", newline="", errors="backslashreplace") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for group in report.groups:
                writer.writerows(_rows(group))
    except OSError as error:
        raise LongdocError(f"The report cannot be written to {path}: {error.strerror}.") from error


def _rows(group: Group) -> Iterator[list[str]]:
    for document in group.documents:
        for path in document.paths or ("",):
            keep = document.id == group.keep and (group.relation is not Relation.IDENTICAL or path == document.paths[0])
            yield [
                str(group.id), str(group.relation), str(document.id), _plain(document.title), _plain(path),
                "keep" if keep else "", group.reason if keep else "", *_closest(group, document),
            ]  # fmt: skip


def _closest(group: Group, document: StoredDocument) -> list[str]:
    """The group's pair in which this document is most alike to another: with which one, and the figures."""
    pairs = [pair for pair in group.pairs if document.id in (pair.a, pair.b)]
    if not pairs:
        return ["", "1.0", "1.0", "1.0", str(document.chunk_count)]
    pair = max(pairs, key=lambda pair: pair.similarity)
    first = pair.a == document.id
    shares = (pair.share_a_in_b, pair.share_b_in_a) if first else (pair.share_b_in_a, pair.share_a_in_b)
    other = pair.b if first else pair.a
    return [str(other), str(pair.similarity), str(shares[0]), str(shares[1]), str(pair.shared_chunks)]


def _plain(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: what a document is called must never be executed."""
    return "'" + text if text.startswith(_FORMULA) else text
