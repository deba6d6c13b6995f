"""Adds up what was read of a document, and says at the end what became of it."""

from __future__ import annotations

import re

from indexer.datatypes import Document, Page, Status
from indexer.normalize import clean
from indexer.parse.languages import UNKNOWN, LanguageCount
from indexer.parse.model import NEEDS_OCR, Facts, UnreadableError


class Ledger:
    """Counts pages, characters and what could not be read."""

    def __init__(self) -> None:
        self.chars = 0
        self.pages = 0
        self.unread: list[int] = []
        self.reason: str | None = None
        self.ocr_helps = False
        self.languages = LanguageCount()

    def add(self, page: Page) -> None:
        """Count a page."""
        self.chars += len(page.text.strip())
        self.pages += 1
        self.languages.add(page.language, len(page.text))
        if page.unread:
            self.unread.append(page.number or self.pages)
            self.reason = self.reason or page.unread
            self.ocr_helps |= page.unread.startswith(NEEDS_OCR)

    def conclude(self, facts: Facts, stopped: UnreadableError | None = None) -> Document:
        """The document, after its last page, or after what stopped the reading."""
        status, reason = self._status(stopped)
        language = self.languages.most()
        return Document(
            media_type=facts.media_type,
            status=status,
            reason=reason,
            title=_line(facts.title),
            author=_line(facts.author),
            created=iso_date(facts.created),
            modified=iso_date(facts.modified),
            language=facts.language or UNKNOWN if language == UNKNOWN else language,
            page_count=facts.page_count,
            chars=self.chars,
            coverage=self._coverage(facts, stopped),
            unread_pages=self._unread_pages(facts),
            remarks=tuple(dict.fromkeys(facts.remarks)),
        )

    def _status(self, stopped: UnreadableError | None) -> tuple[Status, str | None]:
        if stopped is not None:
            if not self.chars:
                return stopped.status, stopped.reason
            return Status.PARTIAL, f"read as far as page or part {self.pages}: {stopped.reason}"
        if self.unread and self.pages > len(self.unread) and self.chars:
            return Status.PARTIAL, f"{len(self.unread)} of {self.pages} pages could not be read: {self.reason}"
        if self.unread:
            return (Status.NEEDS_OCR if self.ocr_helps else Status.FAILED), self.reason
        if not self.chars:
            return Status.EMPTY, "there is no text in it"
        return Status.INDEXED, None

    def _coverage(self, facts: Facts, stopped: UnreadableError | None) -> float:
        if stopped is not None and not self.chars:
            return 0.0
        if facts.page_count is not None:
            return (self.pages - len(self.unread)) / facts.page_count if facts.page_count else 0.0
        return 1 - facts.lost_chars / max(self.chars, facts.lost_chars, 1)

    def _unread_pages(self, facts: Facts) -> tuple[int, ...]:
        if facts.page_count is None:
            return ()
        return (*self.unread, *range(self.pages + 1, facts.page_count + 1))


def _line(text: str | None) -> str | None:
    """A title or name as one clean line of bearable length."""
    line = " ".join(clean(text or "", join_lines=True).text.split())[:300]
    return line or None


def iso_date(text: str | None) -> str | None:
    """A date as documents write it (PDF's ``D:2004...``, ISO 8601) in ISO 8601; None when it is none."""
    match = re.match(r"\s*(?:D:)?(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d))?)?", text or "")
    if match is None or not 1000 <= int(match[1]) <= 9999:
        return None
    year, month, day, hour, minute, second = match.groups()
    date = "-".join(part for part in (year, month, day) if part)
    return f"{date}T{hour}:{minute}:{second or '00'}" if day and hour else date
