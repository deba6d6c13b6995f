"""Mails (eml) with their attachments as documents of their own, and web pages saved as one mail (mhtml)."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from email import message_from_binary_file, policy
from email.message import EmailMessage, Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO

from indexer.datatypes import Status
from indexer.parse.blocks import Block, stretches
from indexer.parse.encoding import decode_head
from indexer.parse.formats.html import html_blocks
from indexer.parse.model import Entry, Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions

_MOST_BYTES = 256 << 20
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_HEADER = re.compile(
    r"^(?:From|To|Cc|Date|Subject|Received|Return-Path|Message-ID|MIME-Version|Delivered-To|Reply-To|Content-Type|"
    r"DKIM-Signature|X-[\w-]+):",
    re.IGNORECASE | re.MULTILINE,
)


def _message(path: Path) -> EmailMessage:
    if path.stat().st_size > _MOST_BYTES:
        raise UnreadableError(Status.TOO_LARGE, f"a mail of more than {_MOST_BYTES >> 20} MB")
    with path.open("rb") as file:
        message = message_from_binary_file(file, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def _header(message: EmailMessage, name: str) -> str:
    """A header as one line; the library raises on some damaged ones."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""


def _content(part: EmailMessage) -> str:
    """A text part in the encoding it names, or in the one that its bytes are in."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    try:
        return content.decode(part.get_content_charset() or "no charset")
    except (LookupError, UnicodeDecodeError):
        return decode_head(content) or ""


def _body(message: EmailMessage, facts: Facts) -> Iterator[Block]:
    """The text of a mail: its plain part where it has a good one, else its HTML."""
    part = _body_part(message)
    if part is None:
        return
    text = _content(part)
    if part.get_content_type() == "text/html":
        yield from html_blocks(iter((text,)), Facts("text/html"))
        return
    for paragraph in re.split(r"\n[ \t]*\r?\n", text.replace("\r\n", "\n")):
        yield Block(paragraph)


def _body_part(message: EmailMessage) -> EmailMessage | None:
    plain = html = None
    for part in message.walk():
        if part.get_content_disposition() == "attachment" or not isinstance(part, EmailMessage):
            continue
        if part.get_content_type() == "text/plain" and plain is None and _content(part).strip():
            plain = part
        elif part.get_content_type() == "text/html" and html is None:
            html = part
    return plain or html


def _mail(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    message = _message(path)
    facts.title = _header(message, "Subject") or None
    facts.author = _header(message, "From") or None
    try:
        facts.created = parsedate_to_datetime(_header(message, "Date")).isoformat()
    except (ValueError, TypeError):
        facts.created = None

    def blocks() -> Iterator[Block]:
        for name in _SHOWN:
            if value := _header(message, name):
                yield Block(f"{name}: {value}", tight=True)
        yield Block("")
        yield from _body(message, facts)

    yield from stretches(blocks())


def _attachments(path: Path, options: ReadOptions) -> Iterator[Entry]:
    """Every part with a name, or marked as an attachment; a mail inside a mail is one."""
    for number, part in enumerate(_message(path).walk()):
        name = part.get_filename()
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            content = (
                b"".join(item.as_bytes() for item in inner if isinstance(item, Message))
                if isinstance(inner, list)
                else b""
            )
            yield Entry(name or f"message {number}.eml", _opener(content))
        elif name or part.get_content_disposition() == "attachment":
            payload = part.get_payload(decode=True)
            if isinstance(payload, bytes):
                yield Entry(name or f"attachment {number}", _opener(payload))


def _opener(content: bytes) -> Callable[[], IO[bytes]]:
    return lambda: io.BytesIO(content)


def _web_page(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    message = _message(path)
    facts.title = _header(message, "Subject") or None
    part = next(
        (part for part in message.walk() if part.get_content_type() in ("text/html", "application/xhtml+xml")), None
    )
    if part is None:
        raise UnreadableError(Status.FAILED, "there is no page in it")
    yield from stretches(html_blocks(iter((_content(part),)), facts))


def _recognise_web_page(sample: Sample) -> int:
    head = sample.head[:4096]
    is_page = re.search(rb"multipart/related", head, re.IGNORECASE) and re.search(
        rb'type="?text/html', head, re.IGNORECASE
    )
    saved = b"Snapshot-Content-Location:" in head or b"Saved by" in head or sample.suffix in ("mht", "mhtml")
    return 70 if is_page and saved and _HEADER.match(head.decode("latin-1")) else 0


def _recognise_mail(sample: Sample) -> int:
    head = sample.head[:8192].decode("latin-1").removeprefix("\ufeff").lstrip()
    if not _HEADER.match(head):
        return 0
    names = {name.lower() for name in _HEADER.findall(head.split("\n\n")[0].replace("\r\n", "\n").split("\n\n")[0])}
    if sample.suffix == "eml":
        return 60 if names else 0
    return 55 if len(names) >= 3 and names & {"from:", "received:"} and names & {"date:", "message-id:"} else 0


FORMATS = (
    Format("mhtml", "multipart/related", ("mhtml", "mht"), "email, lxml", _recognise_web_page, _web_page),
    Format("eml", "message/rfc822", ("eml",), "email", _recognise_mail, _mail, members=_attachments),
)
