"""From a parsed query to what is asked of each side: filters, quoted and excluded words, typing errors, vectors."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from indexer.datatypes import Ids, Matrix, Mode
from indexer.fold import fold
from indexer.lexical import any_expression, is_unspaced, match_expression, query_terms, spellings
from indexer.library import Library
from indexer.search.fusion import attainable, inverse_document_frequency
from indexer.search.languages import query_language, unknown_words_language
from indexer.search.options import Grouping, SearchOptions, parse_filters
from indexer.search.query import Query, split_long
from indexer.search.retrieve import Request, refined
from indexer.store import DocumentFilter

LONG = 320
"""Characters of a query (a Chinese one counts thrice) above which it is cut into pieces that are searched together."""

_MOST_PIECES = 8
_TERMS_OF_LONG = 24
_RARE = 0.02
_COVERED = 0.5
_FULL = 0.2
_SHORTEST_FORGIVEN = 6
_MOST_FORGIVEN = 3
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


def plan(library: Library, query: Query, options: SearchOptions) -> Plan:
    """Decide how a query is asked."""
    present = {name: mean.chunk_count for name, mean in library.store.language_means().items()}
    chunks = sum(present.values())
    language = query_language(query.text, present)
    scope, warnings, nothing = _scope(library, query, options)
    words = _words(library, query, rare=present.get(language, 0) < _RARE * chunks)
    if not words.covered(chunks):
        language = unknown_words_language(query.text, language)
    across = options.across
    if across is None:
        across = present.get(language, 0) < _RARE * chunks and words.covered(chunks) < _COVERED
    mode = Mode.DENSE if across and options.mode is Mode.HYBRID else options.mode
    return Plan(
        replace(
            scope,
            vectors=None if mode is Mode.LEXICAL else _vectors(library, query.text, words, language, options),
            match=None if mode is Mode.DENSE else _match(query, words, scope),
            attainable=attainable(words.weighed, chunks),
            terms=tuple(words.weighed),
            language=language,
        ),
        mode,
        language,
        {term: inverse_document_frequency(count, chunks) for term, count in words.weighed.items() if count},
        words.covered(chunks),
        (*query.warnings, *warnings, *_said_of(words)),
        nothing,
    )


def _match(query: Query, words: _Words, scope: Request) -> str | None:
    wanted = " ".join(words.frequencies) if _is_long(query.text) else query.text
    return match_expression(
        wanted, phrases=query.phrases if scope.chunks is not None else (), alternatives=words.instead
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
    forbidden = _forbidden(library, query, options.by)
    return Request(None, None, 0.0, documents=documents, chunks=chunks, forbidden=forbidden), warnings, nothing


def _forbidden(library: Library, query: Query, by: Grouping) -> Ids | None:
    """The chunks that must not be found: those with an excluded word, and all of a document that is full of it.

    Full of it is a document with the word in its title or its first chunk, or in a fifth of its chunks: a draft says so
    at its top, while one mention in a book spoils that passage only.
    """
    store = library.store
    parts: list[Ids] = [store.chunk_ids(store.matching_documents(unwanted)) for unwanted in query.unwanted]
    if expression := any_expression(query.excluded):
        found = store.lexical_ids(expression, _UNLIMITED)
        parts.append(found)
        if by is Grouping.DOCUMENT:
            parts += [store.chunk_ids(_titled(library, query.excluded)), store.chunk_ids(_full_of(library, found))]
    return np.unique(np.concatenate(parts)) if parts else None


def _titled(library: Library, words: Sequence[str]) -> Ids:
    return library.store.matching_documents(DocumentFilter(titles=tuple(words)))


def _full_of(library: Library, found: Ids) -> list[int]:
    """The documents among whose chunks are the first one or a fifth of all."""
    owners, counts = np.unique(library.store.chunk_owner(found), return_counts=True)
    documents = library.store.documents_by_id(owners)
    wanted: list[int] = []
    for owner, count in zip(owners.tolist(), counts.tolist(), strict=True):
        first = next(iter(library.store.document_chunks(owner, 0, 1)), None)
        at_top = first is not None and bool(np.isin(first.id, found))
        if at_top or (owner in documents and count >= _FULL * documents[owner].chunk_count):
            wanted.append(owner)
    return wanted


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
    missing = [term for term, count in frequencies.items() if not count and term.isascii() and term.isalpha()]
    if rare or not missing:  # words of another language are not misspelt ones of this
        return _Words(frequencies)
    return _stood_in_for(library, query.text, frequencies, missing)


def _stood_in_for(library: Library, text: str, frequencies: Mapping[str, int], missing: Sequence[str]) -> _Words:
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
    return _Words(kept, instead, corrected)


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


def _said_of(words: _Words) -> Iterator[str]:
    for term, meant in words.corrected.items():
        yield f"“{term}” stands nowhere in the library; “{meant}” was searched for."


def _vectors(library: Library, text: str, words: _Words, language: str, options: SearchOptions) -> Matrix:
    if words.corrected:
        text = " ".join(words.corrected.get(fold(word).strip(string.punctuation), word) for word in text.split())
    pieces = _pieces(text) if _is_long(text) else [text]
    vectors = library.means.centre_queries(library.encoder.encode_query(pieces), language)
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


def suggestions(query: Query, planned: Plan, options: SearchOptions) -> Iterator[str]:
    """What a person may try when nothing relevant was found."""
    if query.filter or options.where or options.document is not None:
        yield "Search without the filters."
    if query.excluded:
        yield "Allow the excluded words again."
    if planned.mode is Mode.LEXICAL:
        yield "Search by meaning too (mode hybrid)."
    if len(query_terms(query.text)) > 6:
        yield "Use fewer words: those that the passage would have."
    else:
        yield "Use other words, or describe in a sentence what the passage says."
    yield "See with `longdoc list` whether the document is in the library and could be read."


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
