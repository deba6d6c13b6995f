"""Reads one document in this process: detects its format, runs the adapter, cleans each page, sums up the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexer.datatypes import Heading, Page, Status
from indexer.normalize import clean
from indexer.parse.events import Event, Opened
from indexer.parse.languages import detect_language
from indexer.parse.ledger import Ledger
from indexer.parse.model import Facts, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.registry import detect_format


def extract(path: Path, options: ReadOptions) -> Iterator[Event]:
    """Read a document: Opened once it is known what it is, its pages, and at last its Document; never raises."""
    facts = Facts("application/octet-stream")
    ledger = Ledger()
    stopped: UnreadableError | None = None
    pages = _raw_pages(path, options, facts)
    try:
        for raw in pages:
            if not ledger.pages:
                yield Opened(facts.media_type, facts.page_count)
            page = clean_page(raw)
            ledger.add(page)
            yield page
    except UnreadableError as error:
        stopped = error
    except MemoryError:
        stopped = UnreadableError(
            Status.TOO_LARGE, f"it needs more memory than the {options.memory_bytes >> 20:,} MB allowed"
        )
    except OSError as error:
        stopped = UnreadableError(Status.FAILED, f"the file cannot be read: {error.strerror or error}")
    except Exception as error:  # a library may raise anything over a damaged or hostile file
        reason = " ".join(str(error).split())[:200]
        stopped = UnreadableError(Status.FAILED, f"its content is damaged ({type(error).__name__}: {reason})")
    yield ledger.conclude(facts, stopped)


def _raw_pages(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    sample = Sample.of(path)
    if sample.size > options.max_bytes:
        reason = f"the file has {sample.size:,} bytes; at most {options.max_bytes:,} are read"
        raise UnreadableError(Status.TOO_LARGE, reason)
    found = detect_format(sample)
    facts.media_type = found.media_type
    yield from found.extract(path, options, facts)


def clean_page(raw: RawPage) -> Page:
    """A raw page with its text cleaned, its headings moved along and its language told."""
    cleaned = clean(raw.text, join_lines=raw.join_lines, close_up=raw.close_up, drop=raw.drop)
    headings = tuple(
        Heading(heading.level, title, cleaned.from_original(heading.start))
        for heading in raw.headings
        if (title := clean(heading.title, join_lines=True).text.strip())
    )
    language = detect_language(cleaned.text)
    return Page(cleaned.text, cleaned.offsets, raw.number, raw.label, headings, language, raw.unread, raw.recognised)
