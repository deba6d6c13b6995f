"""Pages to chunks: whole sentences packed to a number of the encoder's tokens, cut where the text itself has a border.

Where a chunk ends depends on the text near that place (a heading, a paragraph, and among equals the lowest checksum
of what follows) and not on how far it is from the document's start. So after an edit the borders soon fall into step
again and the chunks behind it keep their text, and with it their embeddings. The idea is that of content-defined
chunking (Muthitacharoen et al., LBFS, 2001), applied to sentences instead of bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from indexer.datatypes import Chunk, Page, Span
from indexer.sentences import Border, break_point, checksum, ends_sentence, sentences

TokenCounter = Callable[[Sequence[str]], list[int]]
"""Content tokens of each text, by the encoder's own tokenizer."""

_EARLIEST = 0.6
"""A chunk ends between this share of its limit and the limit: room to find a good border in."""

_SECTION = 1 / 3
"""A heading always begins a new chunk once the chunk before it has this share of its limit."""

_CHARS_PER_TOKEN = 16
"""A tokenizer may count a run of blanks or of unknown characters as next to nothing; at least one per so many here."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence or part of one, with the border in front of it; ``cost`` is its share of a chunk's limit."""

    text: str
    start: int
    border: Border
    tokens: int = 0
    cost: int = 0
    page: int | None = None
    headings: tuple[str, ...] = ()
    language: str = "und"


def chunk_pages(
    pages: Iterable[Page], count_tokens: TokenCounter, *, chunk_tokens: int = 192, minimum: int = 24
) -> Iterator[Chunk]:
    """Cut a document into chunks as its pages arrive; no more than a page and a chunk are held at a time.

    The chunks tile the document's text. None has more than ``chunk_tokens`` tokens (summed over its sentences), and
    none fewer than ``minimum``, unless the whole document has fewer. A document of white space has no chunks.
    """
    if chunk_tokens < 8:
        raise ValueError(f"chunk_tokens must be at least 8, not {chunk_tokens}")
    minimum = min(minimum, chunk_tokens // 4)
    pieces = _pieces(pages, count_tokens, chunk_tokens - 2 * minimum)
    for position, group in enumerate(_pack(pieces, chunk_tokens, minimum)):
        yield _chunk(position, group)


def _chunk(position: int, pieces: Sequence[_Piece]) -> Chunk:
    text = "".join(piece.text for piece in pieces)
    numbers = [piece.page for piece in pieces if piece.page is not None]
    languages: Counter[str] = Counter()
    for piece in pieces:
        languages[piece.language] += len(piece.text)
    return Chunk(
        position=position,
        span=Span(pieces[0].start, pieces[0].start + len(text)),
        text=text,
        tokens=sum(piece.tokens for piece in pieces),
        first_page=numbers[0] if numbers else None,
        last_page=numbers[-1] if numbers else None,
        headings=pieces[0].headings,
        language=languages.most_common(1)[0][0],
    )


def _pack(pieces: Iterable[_Piece], limit: int, minimum: int) -> Iterator[list[_Piece]]:
    pending: list[_Piece] = []
    size = 0
    for piece in pieces:
        pending.append(piece)
        size += piece.cost
        while size >= limit + minimum and (cut := _cut(pending, size, limit, minimum)):
            yield pending[:cut]
            size -= sum(piece.cost for piece in pending[:cut])
            pending = pending[cut:]
    while cut := _cut(pending, size, limit, minimum):
        yield pending[:cut]
        size -= sum(piece.cost for piece in pending[:cut])
        pending = pending[cut:]
    if pending:
        yield pending


def _cut(pending: Sequence[_Piece], size: int, limit: int, minimum: int) -> int:
    """How many pieces make the next chunk; 0 when all of them do."""
    highest = min(limit, size - minimum)
    best, best_key = 0, (-1, 0)
    fallback, position = 0, 0
    for index, piece in enumerate(pending):
        if position > highest:
            break
        if piece.border is Border.HEADING and position >= max(limit * _SECTION, minimum):
            return index
        if position >= limit * _EARLIEST:
            key = (int(piece.border), -checksum(piece.text.strip()[:64]))
            if key > best_key:
                best, best_key = index, key
        elif position >= minimum:
            fallback = index
        position += piece.cost
    if size <= limit:
        return 0
    return best or fallback or (1 if len(pending) > 1 else 0)


def _pieces(pages: Iterable[Page], count_tokens: TokenCounter, longest: int) -> Iterator[_Piece]:
    """Sentences of all pages with their costs, none above ``longest``; white space alone joins what follows it."""
    start, blank, outline = 0, "", _Outline()
    border = Border.INSIDE
    for page in pages:
        parts, border = _page_pieces(page, start, border, outline)
        start += len(page.text)
        for piece in _measured(parts, count_tokens, longest):
            if piece.text.isspace():
                blank += piece.text
                continue
            yield replace(piece, text=blank + piece.text, start=piece.start - len(blank)) if blank else piece
            blank = ""
    if blank and start > len(blank):
        yield _Piece(blank, start - len(blank), Border.INSIDE)


class _Outline:
    """The path of headings in force while a document is read from its start to its end."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._open)


def _page_pieces(page: Page, start: int, border: Border, outline: _Outline) -> tuple[list[_Piece], Border]:
    """The page's pieces, and the border between this page and the next."""
    headings = sorted((heading for heading in page.headings), key=lambda heading: heading.start)
    pieces: list[_Piece] = []
    for sentence in sentences(page.text):
        place = sentence.span.start
        while headings and headings[0].start < sentence.span.end:
            heading = headings.pop(0)
            if heading.start > place:
                pieces.append(_piece(page, Span(place, heading.start), start, border, outline))
                place, border = heading.start, Border.LINE
            outline.enter(heading.level, heading.title)
            title = page.text[place : sentence.span.end].strip()
            after_title = border is Border.INSIDE and bool(pieces)
            border = Border.INSIDE if after_title else Border.HEADING
            if len(title) <= 2 * len(heading.title) + 10 and place < sentence.span.end:
                sentence = replace(sentence, border=Border.INSIDE)
        pieces.append(_piece(page, Span(place, sentence.span.end), start, border, outline))
        border = sentence.border
    for heading in headings:
        outline.enter(heading.level, heading.title)
    if page.number is not None and border >= Border.SENTENCE and not ends_sentence(page.text):
        border = Border.LINE  # a page's end is no end of a paragraph
    return pieces, border


def _piece(page: Page, span: Span, start: int, border: Border, outline: _Outline) -> _Piece:
    return _Piece(
        span.of(page.text),
        start + span.start,
        border,
        page=page.number,
        headings=outline.path,
        language=page.language,
    )


def _measured(pieces: Sequence[_Piece], count_tokens: TokenCounter, longest: int) -> list[_Piece]:
    """The pieces with their tokens; those above ``longest`` are divided, and their parts counted, until none is."""
    counts = count_tokens([piece.text for piece in pieces]) if pieces else []
    measured = [
        replace(piece, tokens=tokens, cost=max(tokens, len(piece.text.strip()) // _CHARS_PER_TOKEN, 1))
        for piece, tokens in zip(pieces, counts, strict=True)
    ]
    if all(piece.cost <= longest or len(piece.text) == 1 for piece in measured):
        return measured
    result: list[_Piece] = []
    for piece in measured:
        if piece.cost <= longest or len(piece.text) == 1:
            result.append(piece)
        else:
            result.extend(_measured(_divided(piece, longest), count_tokens, longest))
    return result


def _divided(piece: _Piece, longest: int) -> list[_Piece]:
    """The piece in parts of roughly equal cost, cut behind clauses or words where there are any."""
    width = max(1, len(piece.text) // (piece.cost // longest + 1))
    places, place = [0], 0
    while len(piece.text) - place > width + width // 2 or (place == 0 and len(piece.text) > 1):
        high = min(place + width, len(piece.text) - 1)
        place = break_point(piece.text, place + max(1, (high - place) // 2), high)
        places.append(place)
    places.append(len(piece.text))
    return [
        replace(
            piece,
            text=piece.text[first:last],
            start=piece.start + first,
            border=piece.border if first == 0 else Border.INSIDE,
        )
        for first, last in zip(places, places[1:], strict=False)
        if last > first
    ]
