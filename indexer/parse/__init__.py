"""Path to Document: detects a file's format by its content and reads it page by page in a process of its own."""

from __future__ import annotations

from indexer.parse.options import ReadOptions
from indexer.parse.reading import Reading, read

__all__ = ["ReadOptions", "Reading", "read"]
