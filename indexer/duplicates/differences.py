"""What differs between two documents: sentences added, removed, changed or moved, weightiest first."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from indexer.datatypes import Span
from indexer.duplicates.cutting import Sentence, sentences
from indexer.duplicates.facts import facts_that_differ, in_one_form, is_german
from indexer.duplicates.results import Difference
from indexer.duplicates.shingles import comparable

_NUMBERING = re.compile(
    r"(#*\s*)(?:(?:article|section|clause|chapter|artikel|abschnitt|kapitel|§)\s*)?"
    r"(?:\d+(?:\.\d+)*[.)、:]?(?=\D)|\(?(?:[a-z]|[ivx]+)\)|第[\d〇零一二三四五六七八九十百]+[条章节款]|[一二三四五六七八九十]+、)\s*",
    re.IGNORECASE,
)
"""What stands before a clause or a heading to count it."""

_WORD = re.compile(r"[^\W_]+(?:[.,:/-]\d+)*")
_WITH_FACTS = ("changed", "added", "removed")
_ALIKE = 0.4
_PAIRED_CELLS = 4_000
_CELLS = 1_000_000
"""The largest stretch (sentences of a times sentences of b) that is compared sentence by sentence."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Sentences [first_a, last_a) of a stand where [first_b, last_b) of b do, and none of them is equal."""

    first_a: int
    last_a: int
    first_b: int
    last_b: int


def find_differences(before: str, after: str) -> tuple[Difference, ...]:
    """Every place where two texts differ: those with other numbers, dates or names first, then in order of the text.

    Case, white space, compatible forms of characters and another way to write the same date or number are no
    difference. A sentence that stands elsewhere in the other text is called moved, one that only has another number
    before it renumbered. Neighbouring sentences that moved, came or went are one difference, and so are lines that
    come or go again and again.
    """
    found: list[Difference] = []
    for old, new in unequal_sentences(before, after):
        kind = _kind(old, new)
        if kind == "changed" and old and new and _same_in_one_form(old.text, new.text):
            continue
        difference = Difference(kind, old.text if old else "", new.text if new else "", *_spans(old, new))
        joined = _joined(found[-1], difference, before, after) if found else None
        found[-1:] = [joined] if joined else [*found[-1:], difference]
    told = (replace(d, facts=facts_that_differ(d.before, d.after)) if d.kind in _WITH_FACTS else d for d in found)
    return tuple(sorted(_counted(told), key=_weight))


def _kind(old: Sentence | None, new: Sentence | None) -> str:
    if old is None or new is None:
        return "removed" if old else "added"
    if old.key == new.key:
        return "moved"
    return "renumbered" if same_words(_bare(old), _bare(new)) else "changed"


def _bare(sentence: Sentence) -> str:
    """What a sentence is compared by without the number before it."""
    numbering = _NUMBERING.match(sentence.text)
    return comparable(numbering[1] + sentence.text[numbering.end() :]) if numbering else sentence.key


def _same_in_one_form(before: str, after: str) -> bool:
    german = is_german(before) or is_german(after)
    return same_words(in_one_form(before, german), in_one_form(after, german))


def _spans(old: Sentence | None, new: Sentence | None) -> tuple[Span | None, Span | None]:
    return old.span if old else None, new.span if new else None


def _joined(last: Difference, this: Difference, before: str, after: str) -> Difference | None:
    """Two differences as one when both sides of the second follow the first's and both moved, came or went."""
    if last.kind != this.kind or last.kind not in ("moved", "added", "removed"):
        return None
    spans: list[Span | None] = []
    for text, one, two in ((before, last.before_span, this.before_span), (after, last.after_span, this.after_span)):
        if (one is None) != (two is None):
            return None
        if one is None or two is None:
            spans.append(None)
            continue
        between = text[one.end : two.start]
        if one.end > two.start or between.strip() or between.count("\n") > (last.kind == "moved"):
            return None
        spans.append(Span(one.start, two.end))
    old, new = spans
    return replace(
        last, before=old.of(before) if old else "", after=new.of(after) if new else "", before_span=old, after_span=new
    )


def _counted(differences: Iterable[Difference]) -> list[Difference]:
    """What comes or goes several times word for word, once with how often."""
    found: dict[object, Difference] = {}
    for number, difference in enumerate(differences):
        once = difference.kind in ("added", "removed")
        key: object = (difference.kind, comparable(difference.before + difference.after)) if once else number
        same = found.get(key)
        found[key] = replace(same, times=same.times + 1) if same else difference
    return list(found.values())


def unequal_sentences(before: str, after: str) -> Iterator[tuple[Sentence | None, Sentence | None]]:
    """Each sentence without an equal at its place, with what stands there instead; None stands for nothing."""
    a, b = sentences(before), sentences(after)
    blocks = list(_blocks([s.key for s in a], [s.key for s in b]))
    gone = {s.key for block in blocks for s in a[block.first_a : block.last_a]}
    come = {s.key: s for block in blocks for s in b[block.first_b : block.last_b]}
    moved = {key: come[key] for key in gone & come.keys()}
    for block in blocks:
        yield from _unequal(a, b, block, moved)


def _weight(difference: Difference) -> int:
    """0 for a change of facts, 1 for other changes and what only one side has, then what merely moved, then numbers."""
    if difference.kind in ("moved", "renumbered"):
        return 2 if difference.kind == "moved" else 3
    return 0 if difference.facts and difference.kind == "changed" else 1


def _unequal(
    a: Sequence[Sentence], b: Sequence[Sentence], block: _Block, moved: Mapping[str, Sentence]
) -> Iterator[tuple[Sentence | None, Sentence | None]]:
    left = [s for s in a[block.first_a : block.last_a] if s.key not in moved]
    right = [s for s in b[block.first_b : block.last_b] if s.key not in moved]
    if same_words("".join(s.key for s in left), "".join(s.key for s in right)):
        left = right = []  # cut in other lines, nothing more
    for old, new in _aligned(left, right):
        if not (old and new and same_words(old.text, new.text)):
            yield old, new
    for old in a[block.first_a : block.last_a]:
        if old.key in moved:
            yield old, moved[old.key]


def same_words(before: str, after: str) -> bool:
    """Whether two texts differ in white space, case and punctuation at most (marks inside numbers count)."""
    return "".join(_WORD.findall(comparable(before))) == "".join(_WORD.findall(comparable(after)))


def _aligned(left: Sequence[Sentence], right: Sequence[Sentence]) -> Iterator[tuple[Sentence | None, Sentence | None]]:
    """Pair the sentences of a block in order so that likeness is greatest; None stands for no partner."""
    if not left or not right or len(left) * len(right) > _PAIRED_CELLS:
        yield from ((s, None) for s in left)
        yield from ((None, s) for s in right)
        return
    pairs_left, pairs_right = [_pairs(_bare(s)) for s in left], [_pairs(_bare(s)) for s in right]
    likeness = [[_likeness(old, new) for new in pairs_right] for old in pairs_left]
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            paired = best[i + 1][j + 1] + likeness[i][j] if likeness[i][j] >= _ALIKE else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    i = j = 0
    while i < len(left) or j < len(right):
        here = likeness[i][j] if i < len(left) and j < len(right) else 0.0
        if here >= _ALIKE and best[i][j] == best[i + 1][j + 1] + here:
            yield left[i], right[j]
            i, j = i + 1, j + 1
            continue
        if j == len(right) or (i < len(left) and best[i + 1][j] >= best[i][j + 1]):
            yield left[i], None
            i += 1
        else:
            yield None, right[j]
            j += 1


def _pairs(key: str) -> Counter[str]:
    return Counter(key[i : i + 2] for i in range(max(len(key) - 1, 1)))


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    """Dice's coefficient of two sentences' character pairs, 0 to 1."""
    return 2 * (a & b).total() / max(a.total() + b.total(), 1)


def _blocks(a: Sequence[str], b: Sequence[str]) -> Iterator[_Block]:
    """The stretches that differ, between sentences that stand once in each text and in the same order (patience)."""
    last_a = last_b = 0
    for anchor_a, anchor_b in [*_anchors(a, b), (len(a), len(b))]:
        yield from _small_blocks(a, b, _Block(last_a, anchor_a, last_b, anchor_b))
        last_a, last_b = anchor_a + 1, anchor_b + 1


def _small_blocks(a: Sequence[str], b: Sequence[str], block: _Block) -> Iterator[_Block]:
    left, right = a[block.first_a : block.last_a], b[block.first_b : block.last_b]
    if not left and not right:
        return
    if len(left) * len(right) > _CELLS or not left or not right:
        yield block
        return
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            yield _Block(block.first_a + i1, block.first_a + i2, block.first_b + j1, block.first_b + j2)


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The longest rising run of sentences that stand exactly once in each text."""
    counts_a, counts_b = Counter(a), Counter(b)
    where_b = {key: index for index, key in enumerate(b) if counts_b[key] == 1}
    pairs = [(i, where_b[key]) for i, key in enumerate(a) if counts_a[key] == 1 and key in where_b]
    ends: list[int] = []
    tails: list[int] = []
    previous: list[int] = []
    for index, (_, j) in enumerate(pairs):
        where = bisect_left(ends, j)
        previous.append(tails[where - 1] if where else -1)
        ends[where : where + 1] = [j]
        tails[where : where + 1] = [index]
    chain = []
    index = tails[-1] if tails else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]
