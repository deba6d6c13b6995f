"""What clusters are about in words: the terms of each that the others lack, by class-based TF-IDF.

The weight of a term is its share in the cluster times log(1 + A / f), with A the mean number of terms of a cluster and
f the term's number in all (Grootendorst, "BERTopic: neural topic modeling with a class-based TF-IDF procedure", 2022).
Terms are words and phrases of two words; stop words, numbers and single letters are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from indexer.clusters.stopwords import STOPWORDS
from indexer.words import HAN, names_something, words

TERMS = 8
IN_LABEL = 3
_LEAST_SHARE = 0.1
_MOST_SHARE = 0.6
_PHRASE = 0.3
_LOWER_CASE = 0.2
_BOTH_LANGUAGES = 0.25
_WITH_DIGITS = 0.3
_POSSESSIVE = re.compile(r"['’]s\Z")
_SENTENCE = re.compile(r"[.!?,;:()\[\]\n。！？，；：、（）《》“”\"|]+")


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """How often each term stands in a cluster's texts, in how many of the texts, and how many texts there are."""

    total: Counter[str]
    texts: Counter[str]
    count: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> TermCounts:
        total: Counter[str] = Counter()
        holding: Counter[str] = Counter()
        count = 0
        for text in texts:
            found = Counter(terms(text))
            total.update(found)
            holding.update(found.keys())
            count += 1
        return cls(total, holding, count)

    def __add__(self, other: TermCounts) -> TermCounts:
        return TermCounts(self.total + other.total, self.texts + other.texts, self.count + other.count)


def terms(text: str) -> Iterator[str]:
    """The words of a text that say something, and the phrases of two neighbouring ones."""
    for part in _SENTENCE.split(text):
        previous = ""
        for found in words(part):
            word = _POSSESSIVE.sub("", found)
            if word in STOPWORDS or len(word) < (2 if HAN.match(word) else 3):
                previous = ""
                continue
            yield word
            if previous:
                yield previous + word if HAN.match(previous) and HAN.match(word) else f"{previous} {word}"
            previous = word


def telling_terms(clusters: Sequence[TermCounts]) -> list[tuple[str, ...]]:
    """The most telling terms of each cluster, best first; a phrase takes the place of its words."""
    everywhere: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    for counts in clusters:
        everywhere.update(counts.total)
        texts.update(counts.texts)
    documents = sum(counts.count for counts in clusters)
    mean = sum(everywhere.values()) / max(len(clusters), 1)
    common = {term for term, holding in texts.items() if len(clusters) > 1 and holding > _MOST_SHARE * documents}
    return [_best(counts, everywhere, mean, common) for counts in clusters]


def _best(counts: TermCounts, everywhere: Counter[str], mean: float, common: set[str]) -> tuple[str, ...]:
    least = max(min(2, counts.count), _LEAST_SHARE * counts.count)
    size = max(counts.total.total(), 1)
    weights = {
        term: number / size * float(np.log(1 + mean / everywhere[term])) * counts.texts[term] / counts.count * names
        for term, number in counts.total.items()
        if counts.texts[term] >= least and term not in common and (names := _names(term))
    }
    chosen: list[str] = []
    for term in _in_turns(sorted(weights, key=lambda term: (-weights[term], term)), counts):
        if len(chosen) == TERMS:
            break
        if not any(term in other or other in term for other in chosen):
            chosen.append(_phrase_for(term, weights, counts) or term)
    return tuple(dict.fromkeys(chosen))


def _names(term: str) -> float:
    """How well a term names what texts are about, 0 to 1: part numbers and the like say it to few people."""
    if HAN.match(term):
        return names_something(term)
    return _WITH_DIGITS if any(map(str.isdigit, term)) else 1.0


def _in_turns(ranked: Sequence[str], counts: TermCounts) -> list[str]:
    """Where a cluster speaks Chinese and another language, terms of both in turns, those of the larger part first.

    Chinese has fewer different words, each of which stands more often: it would else name such a cluster alone.
    """
    chinese = sum(number for term, number in counts.total.items() if HAN.search(term))
    other = counts.total.total() - chinese
    if min(chinese, other) < _BOTH_LANGUAGES * (chinese + other):
        return list(ranked)
    parts = [[term for term in ranked if bool(HAN.search(term)) is han] for han in (chinese >= other, chinese < other)]
    return [term for pair in zip_longest(*parts) for term in pair if term is not None]


def _phrase_for(term: str, weights: dict[str, float], counts: TermCounts) -> str | None:
    """The phrase that a word mostly stands in, when there is one: "nations" is "six nations"."""
    phrases = [
        other
        for other in weights
        if other != term and term in other and counts.total[other] > _PHRASE * counts.total[term]
    ]
    return max(phrases, key=lambda phrase: (weights[phrase], phrase), default=None)


def as_written(found: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Terms as the texts write them: in lower case where they do that at all often, else in their commonest way.

    So "tony blair" becomes "Tony Blair", and "growth" stays although sentences begin with it.
    """
    latin = [term for term in found if not HAN.search(term)]
    if not latin:
        return tuple(found)
    forms: dict[str, Counter[str]] = {term: Counter() for term in latin}
    longest_first = sorted(latin, key=len, reverse=True)
    pattern = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in longest_first)
    for match in re.finditer(rf"\b(?:{pattern})\b", "\n".join(texts), re.IGNORECASE):
        written = " ".join(match.group().split())
        forms.get(written.casefold(), Counter())[written] += 1
    return tuple(_usual(term, forms.get(term, Counter())) for term in found)


def _usual(term: str, forms: Counter[str]) -> str:
    if not forms or forms[term] >= _LOWER_CASE * forms.total():
        return term
    return max(forms, key=lambda form: (forms[form], form))


def label_of(found: Sequence[str], fallback: str) -> str:
    """A cluster's name: its first terms, or the title of its most central document when it has none."""
    return ", ".join(found[:IN_LABEL]) or fallback
