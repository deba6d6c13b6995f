"""Path to Document: detects a file's format by its content and reads it page by page in a process of its own."""

from __future__ import annotations

from indexer.parse.options import ReadOptions
from indexer.parse.reading import Reading, read
from indexer.parse.unpacking import MEMBER_MARK, Member, unpack
from indexer.parse.viewing import locate_text, render_page

__all__ = ["MEMBER_MARK", "Member", "ReadOptions", "Reading", "locate_text", "read", "render_page", "unpack"]
