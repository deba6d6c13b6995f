"""What is nearly the same: copies, versions, contained documents, translations, and what differs between them."""

from __future__ import annotations

from indexer.duplicates.find import DuplicateOptions, compare, find_duplicates
from indexer.duplicates.overlap import overlap_of
from indexer.duplicates.report import write_csv
from indexer.duplicates.results import (
    Boilerplate,
    ChunkMatch,
    Comparison,
    Difference,
    DuplicateReport,
    Fact,
    Group,
    Overlap,
    Pair,
    Relation,
    Section,
)

__all__ = [
    "Boilerplate",
    "ChunkMatch",
    "Comparison",
    "Difference",
    "DuplicateOptions",
    "DuplicateReport",
    "Fact",
    "Group",
    "Overlap",
    "Pair",
    "Relation",
    "Section",
    "compare",
    "find_duplicates",
    "overlap_of",
    "write_csv",
]
