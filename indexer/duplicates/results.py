"""What a comparison of documents says: relations, pairs, groups and differences, frozen and without behaviour."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from indexer.datatypes import Span, StoredDocument


class Relation(StrEnum):
    """How two documents belong together, the closest first."""

    IDENTICAL = "identical"
    SAME_TEXT = "same_text"
    VERSION = "version"
    CONTAINED = "contained"
    SECTION = "section"
    TRANSLATION = "translation"
    BOILERPLATE = "boilerplate"

    @property
    def meaning(self) -> str:
        """The relation in words for a person."""
        return _MEANINGS[self]


_MEANINGS = {
    Relation.IDENTICAL: "the same bytes at several places",
    Relation.SAME_TEXT: "the same text, in another format or layout",
    Relation.VERSION: "versions: mostly the same text",
    Relation.CONTAINED: "one document lies inside the other",
    Relation.SECTION: "they share a long section",
    Relation.TRANSLATION: "perhaps the same content in another language",
    Relation.BOILERPLATE: "only text that stands in many documents is shared",
}


@dataclass(frozen=True, slots=True)
class ChunkMatch:
    """A chunk of document a and the chunk of b that holds most of it; ``share`` is the part found in b, 0 to 1."""

    position_a: int
    position_b: int
    share: float


@dataclass(frozen=True, slots=True)
class Section:
    """A long stretch that both documents have: its first and last chunk in each, and how much of it is shared.

    ``length`` is in bytes of UTF-8 without white space, so that a Chinese character weighs three Latin letters.
    """

    first_a: int
    last_a: int
    first_b: int
    last_b: int
    length: int

    def turned(self) -> Section:
        """The same section with a and b exchanged."""
        return Section(self.first_b, self.last_b, self.first_a, self.last_a, self.length)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents that were compared directly. In a contained pair ``a`` lies inside ``b``.

    ``similarity`` is the Jaccard index of the 8-character shingles of both texts without boilerplate, for a translation
    the mean cosine of the chunks' best partners. The shares are parts of a text (0 to 1) found in the other one;
    ``in_order`` is the part of the matched chunks that stand in the same order in both; ``sections`` are the long
    stretches that both have.
    """

    a: int
    b: int
    relation: Relation
    similarity: float
    share_a_in_b: float
    share_b_in_a: float
    in_order: float
    shared_chunks: int
    matches: tuple[ChunkMatch, ...] = ()
    sections: tuple[Section, ...] = ()

    def turned(self) -> Pair:
        """The same pair with a and b exchanged."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            share_a_in_b=self.share_b_in_a,
            share_b_in_a=self.share_a_in_b,
            matches=tuple(ChunkMatch(match.position_b, match.position_a, match.share) for match in self.matches),
            sections=tuple(section.turned() for section in self.sections),
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that belong together. ``relation`` is the loosest one of its pairs.

    Every two members were compared directly and have a pair, unless ``through`` names a document: then each was
    compared with that one, and two members without a pair are linked through it. An identical group may have one
    document only, which then lies at several paths. ``keep`` is the id of the document proposed to be kept, ``reason``
    why; nothing is ever removed by itself.
    """

    id: int
    relation: Relation
    documents: tuple[StoredDocument, ...]
    pairs: tuple[Pair, ...]
    through: int | None
    keep: int
    reason: str

    @property
    def similarity(self) -> float:
        """The lowest similarity of the group's pairs; 1.0 for one document at several paths."""
        return min((pair.similarity for pair in self.pairs), default=1.0)

    @property
    def shared_chunks(self) -> int:
        """The most chunks that any two of the documents share."""
        return max((pair.shared_chunks for pair in self.pairs), default=max(d.chunk_count for d in self.documents))


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """A text that stands in many otherwise different documents, and in how many."""

    text: str
    documents: int


@dataclass(frozen=True, slots=True)
class DuplicateReport:
    """Every group found among ``compared`` documents; ``candidates`` pairs were compared directly.

    ``read`` documents and ``aligned`` pairs were new in this run; of the others it was known from an earlier one.
    """

    groups: tuple[Group, ...]
    boilerplate: tuple[Boilerplate, ...]
    compared: int
    candidates: int
    seconds: float
    read: int = 0
    aligned: int = 0


@dataclass(frozen=True, slots=True)
class Fact:
    """Numbers, dates or names that only one side of a difference has."""

    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two documents differ; spans count in the documents.

    ``kind`` is added, removed, changed, moved or renumbered. ``times``: how often the same text was added or removed;
    the spans are those of the first time.
    """

    kind: str
    before: str
    after: str
    before_span: Span | None
    after_span: Span | None
    facts: tuple[Fact, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents side by side: how they relate, and what differs, the weightiest differences first."""

    pair: Pair
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of a document is already in another one, and a sentence that says so."""

    document_id: int
    title: str
    share: float
    relation: Relation
    sentence: str
