"""Which language a query is in: by its script where that decides, by its small words among the Latin ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

from indexer.fold import fold
from indexer.parse.languages import detect_language

_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7a3]")),
    ("zh", re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")),
    ("th", re.compile("[\u0e01-\u0e5b]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u05d0-\u05ea]")),
    ("ar", re.compile("[\u0620-\u064a]")),
    ("hi", re.compile("[\u0904-\u0939]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
_RELATED = {"ru": ("uk", "bg", "sr", "mk", "be"), "ar": ("fa", "ur"), "zh": ("ja",), "hi": ("mr", "ne")}
_LATIN = re.compile(r"[a-z]")
_SMALL_WORDS = {
    "en": "the of and to in is are was were what which who how does do did for with on by when where why from that",
    "de": "der die das und ist sind von den dem des wie was wer wann wo warum mit fur ein eine im zu auf nicht wird "
    "hat haben ich sie wir bei aus dass oder aber auch als",
    "fr": "le la les des du de est sont et un une qui que quoi quel quelle comment pourquoi ou dans pour avec sur au",
    "es": "el la los las de del y es son un una que quien como cuando donde por para con en cual cuales se al",
    "it": "il lo la gli le di del della e sono un una che chi come quando dove perche per con in quale nel si",
    "pt": "o a os as de do da e sao um uma que quem como quando onde porque para com em qual no na se ao",
    "nl": "de het een van en is zijn wat wie hoe wanneer waar waarom met voor op niet in dat te wordt",
}
_FEWEST_LETTERS = 12
_ENOUGH = 2_000
"""Characters of a pasted text that tell its language."""

_WORD_SETS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}


def query_language(text: str, present: Mapping[str, int]) -> str:
    """The language of a query, given how many chunks the library has of each.

    A script that several languages share is taken for the one the library has most of; a query of Latin letters for
    the language whose small words it uses, else for the Latin one the library has most of, else for English.
    """
    text = text[:_ENOUGH]
    counts = {language: len(pattern.findall(text)) for language, pattern in _SCRIPTS}
    latin = len(_LATIN.findall(fold(text)))
    # A Chinese character says about as much as three letters: "CPU 服务器" is Chinese.
    script = max(counts, key=lambda language: counts[language] * (1 if language in ("ru", "el", "ar", "he") else 3))
    if counts["ja"] and counts["ja"] + counts["zh"] > latin / 3:
        return "ja"
    if counts[script] and counts[script] * 3 >= latin:
        family = [language for language in (script, *_RELATED.get(script, ())) if present.get(language)]
        return max(family, key=lambda language: present[language]) if family else script
    return _latin_language(text, present)


def _latin_language(text: str, present: Mapping[str, int]) -> str:
    words = re.findall(r"[a-z]+", fold(text))
    found = {language: sum(word in small for word in words) for language, small in _WORD_SETS.items()}
    most = max(found.values())
    others = {code for code, _ in _SCRIPTS} | {related for group in _RELATED.values() for related in group} | {"und"}
    latin = {language: count for language, count in present.items() if language not in others}
    if most > 1 or (most and not latin):  # one small word alone may be a word of another language: "die casting"
        best = [language for language, count in found.items() if count == most]
        return max(best, key=lambda language: (latin.get(language, 0), language == "en"))
    return max(latin, key=lambda language: latin[language]) if latin else "en"


def small_words(language: str) -> frozenset[str]:
    """Words of a language that stand in every text and are not worth marking; folded."""
    return _WORD_SETS.get(language, frozenset())


def unknown_words_language(text: str, guess: str) -> str:
    """The language of a query none of whose words the library has; ``guess`` when it is too short to tell."""
    if guess in {code for code, _ in _SCRIPTS} or len(_LATIN.findall(fold(text[:_ENOUGH]))) < _FEWEST_LETTERS:
        return guess
    found = detect_language(text[:_ENOUGH])
    return guess if found == "und" else found
