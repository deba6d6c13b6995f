"""What a person typed, taken apart: words, quoted phrases, excluded words and fields. Any text is a query."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from indexer.fold import fold
from indexer.lexical import has_terms, is_unspaced
from indexer.sentences import sentences
from indexer.store.records import DocumentFilter

LONGEST_WITH_OPERATORS = 400
"""Characters; longer texts are pasted rather than typed, so their quotes and hyphens are plain text."""

LONG = 320
"""Characters of a query (a Chinese one counts thrice) above which it is cut into pieces that are searched together."""

_MOST_PIECES = 8

_PART = re.compile(
    r'(?P<minus>(?<!\S)[-\u2212\uff0d])?(?:"(?P<phrase>[^"]*)"'
    r'|(?:(?<!\S)|(?<=(?<!\S)[-\u2212\uff0d]))(?:(?P<field>[a-z]+)[:\uff1a])(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))|(?P<word>[^\s"]+|"))',
    re.IGNORECASE,
)
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_LANGUAGES = {
    "english": "en", "chinese": "zh", "中文": "zh", "german": "de", "deutsch": "de", "french": "fr", "français": "fr",
    "spanish": "es", "español": "es", "japanese": "ja", "日本語": "ja", "korean": "ko", "한국어": "ko", "italian": "it",
    "russian": "ru", "portuguese": "pt", "dutch": "nl", "英文": "en", "英语": "en",
}  # fmt: skip
_FIELDS = {
    "title": "titles", "path": "path_parts", "file": "path_parts", "lang": "languages", "language": "languages",
    "tag": "tags", "type": "types", "before": "date_to", "after": "date_from",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Query:
    """A query taken apart.

    ``text`` is what is looked for by meaning and by words: everything that is no operator, quoted phrases included.
    Documents must pass ``filter`` and none of ``unwanted``.
    """

    original: str
    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filter: DocumentFilter = DocumentFilter()
    unwanted: tuple[DocumentFilter, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not has_terms(self.text)


def parse_query(text: str) -> Query:
    """Take a query apart; never raises.

    ``"late delivery"`` must stand word for word, ``-draft`` must not stand there, and ``title:`` ``path:`` ``lang:``
    ``tag:`` ``type:`` ``before:`` ``after:`` say which documents (with a minus: which not). What is no operator is
    plain text.
    """
    cleaned = "".join(character if character.isprintable() else " " for character in text)
    if len(cleaned) > LONGEST_WITH_OPERATORS:
        return Query(text, " ".join(cleaned.split()))
    if not any(is_unspaced(character) for character in fold(cleaned)):
        cleaned = cleaned.translate(_CURLY)  # in Chinese, curly quotes are ordinary punctuation
    words: list[str] = []
    query = Query(text, "")
    for match in _PART.finditer(cleaned):
        query, word = _take(query, match)
        words.append(word)
    return replace(query, text=" ".join(word for word in words if word))


def _take(query: Query, match: re.Match[str]) -> tuple[Query, str]:
    """The query with one more part, and the part's plain text."""
    phrase, field, word = match["phrase"], match["field"], match["word"]
    if field is not None and match["minus"]:
        wanted, left = _take_field(Query("", ""), field.lower(), match["quoted"] or match["value"] or "", "")
        if wanted.filter:
            return replace(query, unwanted=(*query.unwanted, wanted.filter)), ""
        return query, left or match.group()
    if field is not None:
        return _take_field(query, field.lower(), match["quoted"] or match["value"] or "", match.group())
    if match["minus"] and _excludes(phrase if phrase is not None else word):
        return replace(query, excluded=(*query.excluded, phrase or word.strip())), ""
    if phrase is not None:
        if not has_terms(phrase):
            return query, ""
        return replace(query, phrases=(*query.phrases, phrase)), phrase
    return query, "" if word == '"' else match.group()


def _excludes(word: str | None) -> bool:
    """Whether what stands behind a minus is a word to leave out: ``-5`` is a number, ``- item`` a list."""
    return bool(word) and has_terms(word or "") and not (word or "").strip()[0].isdigit()


def _take_field(query: Query, field: str, value: str, whole: str) -> tuple[Query, str]:
    if field not in _FIELDS or not value or value.startswith("//"):
        return query, whole
    name = _FIELDS[field]
    if name in ("date_from", "date_to"):
        if not is_date(value):
            sentence = f"{field}: wants a date such as 2024, 2024-05 or 2024-05-31; {value!r} was searched as text."
            return replace(query, warnings=(*query.warnings, sentence)), value
        return _narrowed(query, {name: value}), ""
    values = (*getattr(query.filter, name), language_code(value) if name == "languages" else value)
    return _narrowed(query, {name: values}), ""


def _narrowed(query: Query, changed: Mapping[str, Any]) -> Query:
    return replace(query, filter=replace(query.filter, **changed))


def is_date(value: str) -> bool:
    """Whether a value is a year, a month or a day as ISO 8601 writes them."""
    return _DATE.fullmatch(value) is not None


def language_code(value: str) -> str:
    """The code of a language given as a code or by a name."""
    return _LANGUAGES.get(value.casefold(), value.casefold())


def split_long(text: str, limit: int) -> list[str]:
    """Cut a pasted text at sentence ends into pieces of about ``limit`` characters."""
    pieces: list[str] = []
    start = 0
    for sentence in sentences(text):
        if sentence.span.end - start > limit and sentence.span.start > start:
            pieces.append(text[start : sentence.span.start])
            start = sentence.span.start
        while sentence.span.end - start > 2 * limit:  # a sentence without an end
            pieces.append(text[start : start + limit])
            start += limit
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def is_long(text: str) -> bool:
    """Whether a text is rather pasted than asked."""
    return len(text) > LONG or _width(text) > LONG


def pieces_of(text: str) -> list[str]:
    """A long text in pieces short enough to be found by, evenly chosen when there are many."""
    beginning = text[:LONG]
    pieces = split_long(text, LONG * len(beginning) // _width(beginning))
    step = max(1, math.ceil(len(pieces) / _MOST_PIECES))
    return pieces[::step][:_MOST_PIECES]


def _width(text: str) -> int:
    return sum(3 if is_unspaced(character) else 1 for character in text)
