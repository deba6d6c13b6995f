"""Where in a found text a query's words stand, and which sentence answers best. Offsets count in the shown text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexer.datatypes import Span
from indexer.lexical import Term, is_unspaced, terms
from indexer.sentences import sentences

_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "ly", "y", "e")
_SHORTEST_STEM = 4
_LONGEST_WORD = 40
_LONGEST_HEADING = 60
_HEADING = 0.6
"""How much the words of a heading count when the sentence to show is chosen."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marked words of a text, in order and apart from each other, and its best sentence."""

    highlights: tuple[Span, ...]
    sentence: Span | None


def mark(text: str, weights: Mapping[str, float]) -> Marks:
    """Mark the terms of a query in a text; ``weights`` are the terms' weights (inverse document frequencies).

    A word is marked in its inflected forms too. The best sentence is the one whose distinct terms weigh most, the
    first of equals, headings counting less; None when none has a term.
    """
    wanted = _Wanted.of(weights)
    found = [(term, wanted.key(term.text) or "") for term in terms(text, wanted.key)]
    return Marks(_merged([_shown(term, key) for term, key in found]), _best_sentence(text, found, wanted.weights))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The wanted terms; ``stems`` by their first letters, so that most words of a text are passed over quickly."""

    weights: Mapping[str, float]
    stems: Mapping[str, Mapping[str, str]]
    single: Collection[str]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> _Wanted:
        stems: dict[str, dict[str, str]] = {}
        for term in weights:
            stems.setdefault(term[:_SHORTEST_STEM], {})[stem(term)] = term
        return cls(weights, stems, {term for term in weights if len(term) == 1 and not term.isascii()})

    def key(self, term: str) -> str | None:
        """The wanted term that a term of the text stands for."""
        if term in self.weights:
            return term
        if self.single and term[0] in self.single:
            return term[0]
        near = self.stems.get(term[:_SHORTEST_STEM])
        return near.get(stem(term)) if near and term.isascii() else None


def stem(word: str) -> str:
    """A word without its English ending: only to mark words, never to find them."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def _shown(term: Term, key: str) -> Span:
    """What is marked of a term: of a bigram found by its first character, that character."""
    alone = len(key) == 1 and len(term.text) == 2 and not term.text.isascii()
    return Span(term.span.start, term.span.start + 1) if alone else term.span


def _merged(found: list[Span]) -> tuple[Span, ...]:
    """Overlapping and touching bigrams become one mark."""
    marks: list[Span] = []
    for span in found:
        if marks and span.start <= marks[-1].end:
            marks[-1] = Span(marks[-1].start, max(marks[-1].end, span.end))
        else:
            marks.append(span)
    return tuple(marks)


def _best_sentence(text: str, found: list[tuple[Term, str]], weights: Mapping[str, float]) -> Span | None:
    best, best_weight = None, 0.0
    for sentence in sentences(text):
        inside = {key for term, key in found if sentence.span.start <= term.span.start < sentence.span.end}
        weight = sum(weights[key] for key in inside) * (1 if says_something(sentence.span.of(text)) else _HEADING)
        if weight > best_weight * 1.0001:
            best, best_weight = sentence.span, weight
    return None if best is None else trimmed(text, best)


def trimmed(text: str, span: Span) -> Span:
    """A span of a text without the space at its ends."""
    shown = span.of(text)
    start = span.start + len(shown) - len(shown.lstrip())
    return Span(start, max(start, span.start + len(shown.rstrip())))


def says_something(sentence: str) -> bool:
    """Whether a sentence is one, rather than a heading or a line of a list that only has the words."""
    shown = sentence.strip()
    return len(shown) >= _LONGEST_HEADING or shown.endswith(
        (".", "!", "?", ":", ";", "。", "！", "？", "：", "；", "…")
    )


def excerpt(text: str, sentence: Span | None, length: int = 480) -> Span:
    """The part of a found text to show where there is room for about ``length`` characters.

    It has the best sentence and what stands around it, and neither begins nor ends inside a word.
    """
    if len(text) <= length:
        return Span(0, len(text))
    middle = (sentence.start + sentence.end) // 2 if sentence else 0
    start = min(max(0, middle - length // 2), len(text) - length)
    if sentence and sentence.start < start:
        start = sentence.start
    return Span(_word_border(text, start, -1), _word_border(text, min(start + length, len(text)), 1))


def _word_border(text: str, place: int, step: int) -> int:
    """The nearest place in a direction that is not inside a word of letters or digits written together."""
    furthest = place + step * _LONGEST_WORD
    while 0 < place < len(text) and place != furthest and all(_joins(text[place + side]) for side in (-1, 0)):
        place += step
    return place


def _joins(character: str) -> bool:
    """Whether a character goes on a word with its neighbours, as those of scripts without spaces do not."""
    return character.isalnum() and not is_unspaced(character)
