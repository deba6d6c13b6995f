"""From a parsed query to what is asked of each side: filters, quoted and excluded words, typing errors, vectors."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from indexer.datatypes import Ids, Matrix, Mode
from indexer.lexical import any_expression, is_unspaced, match_expression, query_terms, spellings
from indexer.library import Library
from indexer.search.fusion import attainable, inverse_document_frequency
from indexer.search.languages import query_language
from indexer.search.options import Grouping, SearchOptions, parse_filters
from indexer.search.query import Query, split_long
from indexer.search.retrieve import Request, refined

LONG = 320
"""Characters of a query (a Chinese one counts thrice) above which it is cut into pieces that are searched together."""

_MOST_PIECES = 8
_TERMS_OF_LONG = 24
_RARE = 0.02
_COVERED = 0.5
_SHORTEST_FORGIVEN = 5
_UNLIMITED = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What a search asks of the library, and what the person should know about it.

    ``weights`` are those of the terms that are looked for; ``covered`` the share of the query's weight in terms that
    the library has at all; ``nothing`` a sentence for when nothing can be found.
    """

    request: Request
    mode: Mode
    language: str
    weights: Mapping[str, float]
    covered: float
    warnings: tuple[str, ...] = ()
    nothing: str | None = None


@dataclass(frozen=True, slots=True)
class _Words:
    """The lexical side of a query: its terms in the library, and those put in place of misspelt ones."""

    frequencies: Mapping[str, int]
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def covered(self, chunks: int) -> float:
        whole = attainable(self.frequencies, chunks)
        present = attainable({term: count for term, count in self.frequencies.items() if count}, chunks)
        return present / whole if whole else 0.0


def plan(library: Library, query: Query, options: SearchOptions) -> Plan:
    """Decide how a query is asked."""
    present = {name: mean.chunk_count for name, mean in library.store.language_means().items()}
    chunks = sum(present.values())
    language = query_language(query.text, present)
    scope, warnings, nothing = _scope(library, query, options)
    words = _words(library, query, rare=present.get(language, 0) < _RARE * chunks)
    across = options.across
    if across is None:
        across = present.get(language, 0) < _RARE * chunks and words.covered(chunks) < _COVERED
    mode = Mode.DENSE if across and options.mode is Mode.HYBRID else options.mode
    text, corrected = _corrected(query.text, words.instead)
    vectors = None if mode is Mode.LEXICAL else _vectors(library, text, language, options)
    match = None
    if mode is not Mode.DENSE:
        wanted = " ".join(words.frequencies) if _is_long(query.text) else query.text
        alternatives = [term for terms in words.instead.values() for term in terms]
        match = match_expression(
            wanted, phrases=query.phrases if scope.chunks is not None else (), alternatives=alternatives
        )
    return Plan(
        replace(scope, vectors=vectors, match=match, attainable=attainable(words.frequencies, chunks)),
        mode,
        language,
        {term: inverse_document_frequency(count, chunks) for term, count in words.frequencies.items() if count}
        | {term: 1.0 for terms in words.instead.values() for term in terms},
        words.covered(chunks),
        (*query.warnings, *warnings, *corrected),
        nothing,
    )


def _scope(library: Library, query: Query, options: SearchOptions) -> tuple[Request, list[str], str | None]:
    """Which documents and chunks may be found; the sentences that go with it; why there can be nothing."""
    store = library.store
    warnings: list[str] = []
    wanted = parse_filters([one for one in options.where if not one.startswith("cluster=")], query.filter)
    if options.document is not None:
        wanted = replace(wanted, ids=(options.document,))
    documents = store.matching_documents(wanted) if wanted else None
    for one in options.where:
        if one.startswith("cluster="):
            members = _cluster_members(library, one.partition("=")[2])
            documents = members if documents is None else np.intersect1d(documents, members)
    nothing = None
    if documents is not None and not len(documents):
        nothing = "No document passes the filters: try fewer of them, or `longdoc list` to see what there is."
    chunks = _phrase_chunks(library, query.phrases, options.by)
    if chunks is not None and not len(chunks):
        quoted = " and ".join(f"“{phrase}”" for phrase in query.phrases)
        warnings.append(f"No passage has {quoted} word for word; the words were searched for without the quotes.")
        chunks = None
    forbidden = None
    if expression := any_expression(query.excluded):
        forbidden = store.lexical_ids(expression, _UNLIMITED)
        if options.by is Grouping.DOCUMENT and len(forbidden):
            forbidden = store.chunk_ids(np.unique(store.chunk_owner(forbidden)))
    return Request(None, None, 0.0, documents, chunks, forbidden), warnings, nothing


def _phrase_chunks(library: Library, phrases: tuple[str, ...], by: Grouping) -> Ids | None:
    """The chunks with all of the phrases or, by document, with one of them in a document that has all."""
    expression = match_expression("", phrases=phrases)
    if expression is None:
        return None
    store = library.store
    chunks = store.lexical_ids(expression, _UNLIMITED)
    if len(chunks) or len(phrases) < 2 or by is Grouping.CHUNK:
        return chunks
    found = [store.lexical_ids(match_expression("", phrases=[phrase]) or "", _UNLIMITED) for phrase in phrases]
    owners = [store.chunk_owner(ids) for ids in found]
    common = set.intersection(*(set(of.tolist()) for of in owners))
    every, owner = np.concatenate(found), np.concatenate(owners)
    return np.unique(every[np.isin(owner, list(common))])


def _cluster_members(library: Library, wanted: str) -> Ids:
    """The documents of a cluster, named by its number or its label; none when there is no such cluster."""
    kept = library.store.meta_get("clusters") or {}
    members = kept.get("members", {})
    labels = {str(label).casefold(): number for number, label in kept.get("labels", {}).items()}
    number = wanted if wanted in members else labels.get(wanted.casefold(), "")
    return np.array(sorted(members.get(number, ())), dtype=np.int64)


def _words(library: Library, query: Query, *, rare: bool) -> _Words:
    terms = query_terms(query.text)
    counts = library.store.term_counts(terms)
    frequencies = {term: counts.get(term, 0) for term in terms if not (len(term) == 1 and is_unspaced(term))}
    if _is_long(query.text):
        known = sorted((term for term in frequencies if frequencies[term]), key=lambda term: frequencies[term])
        return _Words({term: frequencies[term] for term in known[:_TERMS_OF_LONG]})
    if rare:  # words of another language are not misspelt ones of this
        return _Words(frequencies)
    instead = _forgiven(library, query.text, [term for term, count in frequencies.items() if not count])
    for term in instead:
        del frequencies[term]
    return _Words(frequencies, instead)


def _forgiven(library: Library, text: str, missing: list[str]) -> dict[str, tuple[str, ...]]:
    """For terms that stand nowhere, the terms of the library they were probably meant to be."""
    written = {spelling: word for word in text.split() for spelling in spellings(word)}
    candidates: dict[str, list[str]] = {}
    for term in missing:
        near = [spelling for spelling in written if spelling in spellings(term)] + spellings(term)
        if len(term) >= _SHORTEST_FORGIVEN and term.isascii() and term.isalpha():
            near += _one_edit_away(term)
        candidates[term] = near
    counts = library.store.term_counts({near for some in candidates.values() for near in some})
    forgiven: dict[str, tuple[str, ...]] = {}
    for term, near in candidates.items():
        found = [one for one in dict.fromkeys(near) if counts.get(one)]
        found.sort(key=lambda one: (one[0] != term[0], -counts[one]))
        if found:
            forgiven[term] = tuple(found[:2])
    return forgiven


def _one_edit_away(word: str) -> list[str]:
    """Words with one letter left out, added, changed, or two neighbours swapped."""
    halves = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    letters = string.ascii_lowercase
    swapped = [one + other[1] + other[0] + other[2:] for one, other in halves if len(other) > 1]
    shorter = [one + other[1:] for one, other in halves if other]
    changed = [one + letter + other[1:] for one, other in halves if other for letter in letters]
    longer = [one + letter + other for one, other in halves for letter in letters]
    return list(dict.fromkeys(swapped + shorter + longer + changed))


def _corrected(text: str, instead: Mapping[str, tuple[str, ...]]) -> tuple[str, list[str]]:
    """The text with misspelt words replaced, and the sentence that says so."""
    if not instead:
        return text, []
    words = [
        instead[terms[0]][0] if (terms := query_terms(word)) and terms[0] in instead else word for word in text.split()
    ]
    listed = "; ".join(f"“{term}” (searched for: {', '.join(found)})" for term, found in instead.items())
    return " ".join(words), [f"Nowhere in the library: {listed}."]


def _vectors(library: Library, text: str, language: str, options: SearchOptions) -> Matrix:
    pieces = _pieces(text) if _is_long(text) else [text]
    encoded = library.encoder.encode_query(pieces)
    vectors = library.means.centre_queries(encoded, language)
    if options.more or options.less:
        more, less = (library.rows(np.array(ids, dtype=np.int64)) for ids in (options.more, options.less))
        vectors = refined(vectors, more, less)
    return vectors


def _width(text: str) -> int:
    return sum(3 if is_unspaced(character) else 1 for character in text)


def _is_long(text: str) -> bool:
    return len(text) > LONG // 3 and _width(text) > LONG


def _pieces(text: str) -> list[str]:
    """A long text in pieces short enough to be found by, evenly chosen when there are many."""
    per_character = _width(text) / len(text)
    pieces = split_long(text, int(LONG / per_character))
    step = max(1, math.ceil(len(pieces) / _MOST_PIECES))
    return pieces[::step][:_MOST_PIECES]


def unread_warning(by_status: Mapping[str, int]) -> Iterable[str]:
    """The sentence that says how many documents a search could not look into."""
    reasons = {
        "needs_ocr": "scanned without text", "encrypted": "locked by a password", "unsupported": "of an unknown kind",
        "failed": "damaged", "too_large": "too large", "timed_out": "too slow to read", "empty": "empty",
    }  # fmt: skip
    unread = {reason: by_status[status] for status, reason in reasons.items() if by_status.get(status)}
    total = sum(unread.values())
    if total:
        listed = ", ".join(f"{count} {reason}" for reason, count in unread.items())
        noun = "document was" if total == 1 else "documents were"
        yield f"{total} {noun} not searched because nothing could be read ({listed})."
    if partial := by_status.get("partial"):
        noun = "document was" if partial == 1 else "documents were"
        yield f"{partial} {noun} searched only in part: some pages could not be read."
