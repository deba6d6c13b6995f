"""Text of documents made safe to show: our own escaping into HTML, and labels in which no Markdown comes alive."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from indexer import Span

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""What must not reach a browser: controls, lone surrogates, and marks that turn the text around them."""

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_WORD_JOINER = "\u2060"


def plain(text: str) -> str:
    """The text with characters that only do harm replaced by the replacement character."""
    return _CONTROL.sub("\ufffd", text)


def escaped(text: str) -> str:
    """The text as HTML that shows exactly this text."""
    return html.escape(plain(text), quote=True)


def label(text: str, limit: int = 160) -> str:
    """The text as a Streamlit label that shows exactly this text, on one line, cut at ``limit`` characters.

    A label is Markdown to Streamlit. A backslash keeps punctuation from being Markdown; the word joiner behind it
    (invisible) also breaks what is replaced after Markdown: emoji and icon short codes, arrows, links without brackets.
    """
    line = " ".join(plain(text).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return _PUNCTUATION.sub(rf"\\\1{_WORD_JOINER}", line)


def excerpt(text: str, around: int, length: int) -> Span:
    """About ``length`` characters of a text with ``around`` among the first of them, cut between words.

    Where a script has no spaces between words, or a word is longer than a third of the excerpt, it is cut anywhere.
    """
    start = max(around - length // 4, 0)
    if start and (space := text.find(" ", start, start + length // 3)) >= 0 and space < around:
        start = space + 1
    end = min(start + length, len(text))
    if end < len(text) and (space := text.rfind(" ", max(end - length // 3, start), end)) > start:
        end = space
    return Span(start, end)


def marked(text: str, highlights: Sequence[Span], sentence: Span | None = None) -> str:
    """The text as HTML, with ``<mark>`` around the highlights and the best sentence tinted.

    White space around the text is left out; spans are cut to what remains, overlapping highlights joined.
    """
    last = len(text.rstrip())
    first = min(len(text) - len(text.lstrip()), last)
    borders = {first, last}
    for span in (*highlights, *([sentence] if sentence else [])):
        borders.update((min(max(span.start, first), last), min(max(span.end, first), last)))
    cuts = sorted(borders)
    pieces: list[str] = []
    inside_best = inside_mark = False
    for start, end in zip(cuts, cuts[1:], strict=False):
        best = sentence is not None and sentence.start <= start < sentence.end
        hot = any(span.start <= start < span.end for span in highlights)
        if inside_mark and (not hot or best != inside_best):
            pieces.append("</mark>")
            inside_mark = False
        if best != inside_best:
            pieces.append('<span class="ld-best">' if best else "</span>")
            inside_best = best
        if hot and not inside_mark:
            pieces.append("<mark>")
            inside_mark = True
        pieces.append(escaped(text[start:end]))
    return "".join(pieces) + ("</mark>" if inside_mark else "") + ("</span>" if inside_best else "")
