"""The words of a query as the library has them: other forms of what stands nowhere, corrections of what is misspelt."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from indexer.fold import fold
from indexer.lexical import is_unspaced, query_terms, spellings
from indexer.library import Library
from indexer.search.fusion import attainable
from indexer.search.query import Query, is_long, pieces_of

_TERMS_OF_LONG = 24
_SHORTEST_FORGIVEN = 6
_MOST_FORGIVEN = 3


@dataclass(frozen=True, slots=True)
class Words:
    """The lexical side of a query: how many chunks have each of its terms, and what stands in for those in none.

    ``corrected`` are the terms taken for misspelt, each with what was probably meant.
    """

    frequencies: Mapping[str, int]
    instead: Mapping[str, int] = field(default_factory=dict)
    corrected: Mapping[str, str] = field(default_factory=dict)

    @property
    def weighed(self) -> dict[str, int]:
        """All terms that are looked for, by the chunks that have them; those in none included."""
        return {**self.frequencies, **self.instead}

    def covered(self, chunks: int) -> float:
        """The share of the query's weight in terms that the library has."""
        whole = attainable(self.weighed, chunks)
        present = attainable({term: count for term, count in self.weighed.items() if count}, chunks)
        return present / whole if whole else 0.0


def read_words(library: Library, query: Query, *, rare: bool) -> Words:
    """The terms of a query as the library has them; ``rare``: their language is, so none is taken for misspelt."""
    long = is_long(query.text)
    terms = query_terms(" ".join(pieces_of(query.text)) if long else query.text)
    counts = library.store.term_counts(terms)
    frequencies = {term: counts.get(term, 0) for term in terms if not (len(term) == 1 and is_unspaced(term))}
    if long:
        known = sorted((term for term in frequencies if frequencies[term]), key=lambda term: frequencies[term])
        return Words({term: frequencies[term] for term in known[:_TERMS_OF_LONG]})
    missing = [term for term, count in frequencies.items() if not count and term.isascii() and term.isalpha()]
    if rare or not missing:  # words of another language are not misspelt ones of this
        return Words(frequencies)
    return _stood_in_for(library, query.text, frequencies, missing)


def _stood_in_for(library: Library, text: str, frequencies: Mapping[str, int], missing: Sequence[str]) -> Words:
    """Other forms and spellings of the terms that stand nowhere; failing these, what they were misspelt for."""
    written = {fold(word): spellings(word) for word in text.split()}
    forms = {term: [*written.get(term, ()), *spellings(term), *_inflections(term)] for term in missing}
    doubtful = [term for term in missing if len(term) >= _SHORTEST_FORGIVEN][:_MOST_FORGIVEN]
    near = {term: _one_edit_away(term) if term in doubtful else [] for term in missing}
    counts = library.store.term_counts({one for some in (*forms.values(), *near.values()) for one in some})
    kept = dict(frequencies)
    instead: dict[str, int] = {}
    corrected: dict[str, str] = {}
    for term in missing:
        found = [one for one in forms[term] if counts.get(one)]
        if not found and (likely := [one for one in near[term] if counts.get(one)]):
            found = [max(likely, key=lambda one: counts[one])]
            corrected[term] = found[0]
        if found:
            del kept[term]
            instead |= {one: counts[one] for one in found[:2]}
    return Words(kept, instead, corrected)


def _inflections(word: str) -> list[str]:
    """English forms of a word that differ by their ending."""
    stems = [word, *(word.removesuffix(ending) for ending in ("s", "es", "d", "ed", "ing") if word.endswith(ending))]
    if word.endswith("ies"):
        stems.append(word[:-3] + "y")
    forms = [stem + ending for stem in stems if len(stem) > 2 for ending in ("", "s", "es", "e", "ed", "ing")]
    return [form for form in dict.fromkeys(forms) if form != word]


def _one_edit_away(word: str) -> list[str]:
    """Words with the same first letter and one letter left out, added, changed, or two neighbours swapped."""
    halves = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]
    letters = string.ascii_lowercase
    swapped = [one + other[1] + other[0] + other[2:] for one, other in halves if len(other) > 1]
    shorter = [one + other[1:] for one, other in halves if other]
    changed = [one + letter + other[1:] for one, other in halves if other for letter in letters]
    longer = [one + letter + other for one, other in halves for letter in letters]
    return list(dict.fromkeys(swapped + shorter + longer + changed))


def said_of(words: Words) -> Iterator[str]:
    """The sentences that say what was taken for misspelt."""
    for term, meant in words.corrected.items():
        yield f"“{term}” stands nowhere in the library; “{meant}” was searched for."
