"""Reads one document in this process: detects its format, runs the adapter, cleans each page, sums up the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexer.datatypes import Document, Heading, Page, Status
from indexer.normalize import clean
from indexer.parse.languages import UNKNOWN, LanguageCount, detect_language
from indexer.parse.model import Facts, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.registry import detect_format


@dataclass(frozen=True, slots=True)
class Opened:
    """A document has been opened: what it is and, where it has pages, how many."""

    media_type: str
    page_count: int | None = None


Event = Opened | Page | Document


class _Ledger:
    """Adds up what was read."""

    def __init__(self) -> None:
        self.chars = 0
        self.pages = 0
        self.unread: list[int] = []
        self.reason: str | None = None
        self.languages = LanguageCount()

    def add(self, page: Page) -> None:
        self.chars += len(page.text)
        self.pages += 1
        self.languages.add(page.language, len(page.text))
        if page.unread:
            self.unread.append(page.number or self.pages)
            self.reason = self.reason or page.unread


def extract(path: Path, options: ReadOptions) -> Iterator[Event]:
    """Read a document: Opened once it is known what it is, its pages, and at last its Document.

    What the file contains or lacks never raises; what is wrong in the reader itself does.
    """
    facts = Facts("application/octet-stream")
    ledger = _Ledger()
    stopped: UnreadableError | None = None
    try:
        sample = Sample.of(path)
        if sample.size > options.max_bytes:
            raise UnreadableError(
                Status.TOO_LARGE, f"the file has {sample.size:,} bytes; {options.max_bytes:,} are allowed"
            )
        found = detect_format(sample)
        facts.media_type = found.media_type
        opened = False
        for raw in found.extract(path, options, facts):
            if not opened:
                yield Opened(facts.media_type, facts.page_count)
                opened = True
            page = _cleaned(raw)
            ledger.add(page)
            yield page
    except UnreadableError as error:
        stopped = error
    except MemoryError:
        stopped = UnreadableError(
            Status.TOO_LARGE, f"reading it needs more than {options.memory_bytes >> 20:,} MB of memory"
        )
    except OSError as error:
        stopped = UnreadableError(Status.FAILED, f"the file cannot be read: {error.strerror or error}")
    yield _document(facts, ledger, stopped)


def _cleaned(raw: RawPage) -> Page:
    cleaned = clean(raw.text, join_lines=raw.join_lines, drop=raw.drop)
    headings = tuple(
        Heading(heading.level, title, cleaned.from_original(heading.start))
        for heading in raw.headings
        if (title := clean(heading.title, join_lines=True).text.strip())
    )
    language = detect_language(cleaned.text)
    return Page(cleaned.text, cleaned.offsets, raw.number, raw.label, headings, language, raw.unread)


def _document(facts: Facts, ledger: _Ledger, stopped: UnreadableError | None) -> Document:
    status, reason = _status(ledger, stopped)
    pages = facts.page_count
    unread = tuple(ledger.unread)
    if pages is not None:
        read = ledger.pages - len(unread)
        coverage = read / pages if pages else 0.0
        unread += tuple(range(ledger.pages + 1, pages + 1))
    else:
        coverage = 1 - facts.lost_chars / max(ledger.chars, facts.lost_chars, 1)
        unread = ()
    if stopped is not None and not ledger.chars:
        coverage = 0.0
    language = ledger.languages.most()
    return Document(
        media_type=facts.media_type,
        status=status,
        reason=reason,
        title=_line(facts.title),
        author=_line(facts.author),
        created=iso_date(facts.created),
        modified=iso_date(facts.modified),
        language=facts.language or UNKNOWN if language == UNKNOWN else language,
        page_count=pages,
        chars=ledger.chars,
        coverage=coverage,
        unread_pages=unread,
        remarks=tuple(facts.remarks),
    )


def _status(ledger: _Ledger, stopped: UnreadableError | None) -> tuple[Status, str | None]:
    if stopped is not None:
        if not ledger.chars:
            return stopped.status, stopped.reason
        return Status.PARTIAL, f"read as far as page or part {ledger.pages}: {stopped.reason}"
    if ledger.unread and ledger.chars:
        return Status.PARTIAL, f"{len(ledger.unread)} of {ledger.pages} pages could not be read: {ledger.reason}"
    if ledger.unread:
        return Status.NEEDS_OCR, ledger.reason
    if not ledger.chars:
        return Status.EMPTY, "there is no text in it"
    return Status.INDEXED, None


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
