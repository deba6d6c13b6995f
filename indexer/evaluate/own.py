"""A test made from a person's own documents: sentences taken out and asked for, and facts put in and asked about.

A sentence that is taken out of its document is the query, and the document, by what stands around the gap, is the
right answer (the inverse cloze task of Lee, Chang and Toutanova 2019, as a known-item test). A made-up fact put
somewhere into a document is asked for by a question in other words. Neither needs judgements; both compare settings
fairly, though their figures say nothing about other collections.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.datatypes import Span, StoredChunk
from indexer.errors import EvaluationError
from indexer.evaluate.collection import Answer, Collection, SourceDocument
from indexer.lexical import terms
from indexer.library import Library
from indexer.sentences import sentences

HELD_OUT = "held-out"
PLANTED = "planted"

_MOST_CHARACTERS = 4_000_000
_AROUND = 200
_FEWEST_TERMS, _MOST_TERMS = 8, 80

_NAMES = (
    "Marlow",
    "Quennell",
    "Astrid Vane",
    "Penhallow",
    "Tiverton",
    "Oxley",
    "Brandreth",
    "Ilkley",
    "Sarn",
    "Wexcombe",
)
_NAMES_ZH = ("岚桥", "宁墩", "北柳", "沈青禾", "石浦", "云台岭", "罗坊", "汀溪", "鹿苑", "白杨渡")
_FACTS = {
    "en": (
        ("The spare key to the {name} archive hangs behind the third door.", "where is the key for {name}'s records"),
        ("{name} was granted an extension of seventeen days by the panel.", "how much more time did {name} get"),
        ("Only the {name} unit may be opened without wearing gloves.", "can {name} be handled with bare hands"),
        ("The {name} invoice was paid twice by mistake and refunded in May.", "was the bill of {name} settled double"),
        ("All samples from {name} have to be kept below nine degrees.", "storage temperature for {name} specimens"),
    ),
    "zh": (
        ("{name}档案室的备用钥匙挂在第三扇门后面。", "{name}的资料间的钥匙放在哪里"),
        ("评审组同意把{name}的期限延长十七天。", "{name}多得到了多少时间"),
        ("只有{name}装置可以不戴手套打开。", "哪台设备能徒手操作，是{name}吗"),
        ("{name}的发票误付了两次，五月份已退款。", "{name}的账单是否重复支付"),
        ("来自{name}的所有样品必须保存在九度以下。", "{name}标本的存放温度"),
    ),
}  # fmt: skip


KINDS = {
    HELD_OUT: "Sentences that were taken out, asked for as they stood; what stands around the gap is the answer.",
    PLANTED: "Made-up facts that were put in, asked for in other words; the same names and facts stand elsewhere too.",
}
"""What is asked, and what it tells."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """A change to a document's text and the query that asks for it."""

    query: str
    kind: str
    span: Span
    text: str = ""


def own_collection(library: Library, queries: int = 100, *, seed: int = 0) -> Collection:
    """Documents of the library (all, or a random part of four million characters), changed, with queries about them.

    Half of the queries are sentences taken out, half are questions about planted facts. Raises EvaluationError when the
    library has too little text for that.
    """
    chance = random.Random(seed)
    documents = _chosen_documents(library, chance)
    edits = _edits(library, documents, queries, chance)
    if not edits:
        raise EvaluationError("The library has no documents with enough sentences to make a test from.")
    sources: list[SourceDocument] = []
    asked: dict[str, str] = {}
    grades: dict[str, dict[str, int]] = {}
    answers: dict[str, tuple[Answer, ...]] = {}
    for document in documents:
        name = str(document)
        text, places = _edited(library.store.text(document), edits.get(document, []))
        sources.append(SourceDocument(name, "", text))
        for edit, place in places:
            query = f"{edit.kind}-{len(asked) + 1}"
            asked[query] = edit.query
            grades[query] = {name: 1}
            answers[query] = (Answer(name, place),)
    return Collection("own documents", tuple(sources), asked, grades, answers)


def _chosen_documents(library: Library, chance: random.Random) -> list[int]:
    listed = [document for document in library.store.documents() if document.chunk_count]
    chance.shuffle(listed)
    chosen: list[int] = []
    characters = 0
    for document in listed:
        if chosen and characters + document.chars > _MOST_CHARACTERS:
            continue
        chosen.append(document.id)
        characters += document.chars
    return sorted(chosen)


def _edits(library: Library, documents: Sequence[int], queries: int, chance: random.Random) -> dict[int, list[_Edit]]:
    """As many edits as queries are wanted, spread over chunks of the chosen documents, by document."""
    ids = library.store.chunk_ids(documents).tolist()
    chance.shuffle(ids)
    facts = _facts(chance)
    edits: dict[int, list[_Edit]] = {}
    made = 0
    for stored in library.store.chunks(ids[: 4 * queries]):
        edit = _held_out(stored, chance) if made % 2 == 0 else _planted(stored, facts)
        if edit is not None and made < queries:
            edits.setdefault(stored.document_id, []).append(edit)
            made += 1
    return edits


def _held_out(stored: StoredChunk, chance: random.Random) -> _Edit | None:
    """A sentence from the inside of a chunk that says enough to be asked for."""
    text = stored.chunk.text
    inside = [sentence.span for sentence in sentences(text)][1:-1]
    chance.shuffle(inside)
    for span in inside:
        if _FEWEST_TERMS <= len(terms(span.of(text))) <= _MOST_TERMS:
            return _Edit(span.of(text).strip(), HELD_OUT, span.shifted(stored.chunk.span.start))
    return None


def _planted(stored: StoredChunk, facts: dict[str, Iterator[tuple[str, str]]]) -> _Edit | None:
    """A made-up fact at a sentence border, in the language of what stands around it."""
    borders = [sentence.span.start for sentence in sentences(stored.chunk.text)][1:]
    language = "zh" if stored.chunk.language.startswith("zh") else "en"
    fact = next(facts[language], None)
    if not borders or fact is None:
        return None
    place = stored.chunk.span.start + borders[len(borders) // 2]
    said, asked = fact
    return _Edit(asked, PLANTED, Span(place, place), f" {said} " if language == "en" else said)


def _facts(chance: random.Random) -> dict[str, Iterator[tuple[str, str]]]:
    made: dict[str, Iterator[tuple[str, str]]] = {}
    for language, names in (("en", _NAMES), ("zh", _NAMES_ZH)):
        pairs = [
            (said.format(name=name), asked.format(name=name)) for name in names for said, asked in _FACTS[language]
        ]
        chance.shuffle(pairs)
        made[language] = iter(pairs)
    return made


def _edited(text: str, edits: Sequence[_Edit]) -> tuple[str, list[tuple[_Edit, Span]]]:
    """The text with all edits made, and where in it the answer to each one's query stands."""
    pieces: list[str] = []
    places: list[tuple[_Edit, int]] = []
    position = length = 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if edit.span.start < position:
            continue  # two edits at one place: the first stands
        pieces += [text[position : edit.span.start], edit.text]
        length += edit.span.start - position
        places.append((edit, length))
        length += len(edit.text)
        position = edit.span.end
    changed = "".join([*pieces, text[position:]])
    found: list[tuple[_Edit, Span]] = []
    for edit, place in places:
        if edit.text:
            found.append((edit, Span(place, place + len(edit.text))))
        else:
            found.append((edit, Span(max(0, place - _AROUND), min(len(changed), place + _AROUND))))
    return changed, found
