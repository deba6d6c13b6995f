"""The engine's sentences in the language of the session: the engine speaks English, the pages may speak Chinese."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path

from app import components
from app.texts import Language

CHINESE = Path(__file__).with_name("engine_zh.toml")
_PLACE = re.compile(r"(\{#?\})")
_BORDERS = ("; ", ", ")
"""Where several things are said one after the other: reasons, and counts of documents."""
_HERE = {
    "Search by meaning too (mode hybrid).": "Search by meaning and words.",
    "See with `longdoc list` whether the document is in the library and could be read.": (
        "See on the Library page whether the document is there and could be read."
    ),
}
"""Advice for the terminal, as it is said on a page."""


def engine(sentence: str) -> str:
    """A sentence of the engine in this session's language; one without a translation is shown as it is."""
    return in_chinese(sentence) if components.language() is Language.CHINESE else _HERE.get(sentence, sentence)


@lru_cache(maxsize=2000)
def in_chinese(sentence: str) -> str:
    """The sentence in Chinese: by its template, else part by part; what is not known stays as it is."""
    text = sentence.strip()
    if (found := _match(text)) is not None:
        return found
    for border in _BORDERS:
        if border in text:
            parts = text.split(border)
            translated = [_match(part) or part for part in parts]
            if translated != parts:
                return ("；" if border == "; " else "，").join(translated)
    return sentence


def _match(text: str) -> str | None:
    for pattern, chinese in _templates():
        if found := pattern.fullmatch(text):
            return chinese.format(*(in_chinese(value) for value in found.groups()))
    return None


@cache
def _templates() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The templates as patterns, those that say most first, so that no vague one takes a sentence of another."""
    known: dict[str, str] = tomllib.loads(CHINESE.read_text(encoding="utf-8"))
    ordered = sorted(known.items(), key=lambda pair: len(_PLACE.sub("", pair[0])), reverse=True)
    return tuple((_pattern(english), chinese) for english, chinese in ordered)


def _pattern(template: str) -> re.Pattern[str]:
    places = {"{}": "((?:(?!; ).)*?)", "{#}": r"([\d,]+)"}
    return re.compile("".join(places.get(piece) or re.escape(piece) for piece in _PLACE.split(template)), re.DOTALL)
