"""From verified pairs to groups in which every two documents were compared, and which of a group to keep.

Documents are not merged through others: A like B and B like C make one group only when A and C were found alike too,
else two groups that share B. Only a family of more than 40 documents is shown around one document: every member was
compared with that one, and those that were not compared with each other are linked through it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from indexer.datatypes import StoredDocument
from indexer.duplicates.results import Group, Pair, Relation

LARGE = 40
_ORDER = list(Relation)
_NEAR = (Relation.SAME_TEXT, Relation.VERSION)
_KEEP_ALL = {
    Relation.SECTION: "keep them all: they share no more than a section",
    Relation.TRANSLATION: "keep both: they are in different languages",
}
_MARK = re.compile(
    r"(?:\bv(?:ersion)?|\brev(?:ision)?|版本?|第)[\s._-]?(\d+(?:\.\d+)*)|(\d+(?:\.\d+)*)[\s._-]?版", re.IGNORECASE
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?(?!\d)")
_Members = tuple[tuple[StoredDocument, ...], tuple[Pair, ...], int | None]
Edges = Mapping[int, Mapping[int, Pair]]


def make_groups(documents: Mapping[int, StoredDocument], pairs: Iterable[Pair]) -> tuple[Group, ...]:
    """Group documents by their pairs, the closest relation first, the largest group first within a relation."""
    by_relation: dict[Relation, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_relation[pair.relation].append(pair)
    found: list[_Members] = [((document,), (), None) for document in documents.values() if len(document.paths) > 1]
    relations = [Relation.IDENTICAL] * len(found)
    for relation in _NEAR:
        closer = [pair for kind in _NEAR[: _NEAR.index(relation) + 1] for pair in by_relation[kind]]
        for members, inside, through in _covered(closer):
            if any(pair.relation is relation for pair in inside):
                found.append((tuple(documents[i] for i in members), inside, through))
                relations.append(relation)
    for members, inside, through in _covered(by_relation[Relation.SECTION]):
        found.append((tuple(documents[i] for i in members), inside, through))
        relations.append(Relation.SECTION)
    for relation in (Relation.CONTAINED, Relation.TRANSLATION):
        for pair in sorted(by_relation[relation], key=lambda pair: (-pair.similarity, pair.a, pair.b)):
            found.append(((documents[pair.a], documents[pair.b]), (pair,), None))
            relations.append(relation)
    ranked = sorted(
        zip(relations, found, strict=True), key=lambda item: (_ORDER.index(item[0]), -len(item[1][0]), item[1][0][0].id)
    )
    return tuple(
        Group(number, relation, members, inside, through, *choose_kept(members, relation, inside))
        for number, (relation, (members, inside, through)) in enumerate(ranked, start=1)
    )


def _covered(pairs: Sequence[Pair]) -> list[tuple[tuple[int, ...], tuple[Pair, ...], int | None]]:
    """Cover every pair by groups: stars around the documents with very many, then groups of all tied to all.

    Each group is its members, its pairs, and for a star the document in the middle.
    """
    edges: dict[int, dict[int, Pair]] = defaultdict(dict)
    for pair in pairs:
        edges[pair.a][pair.b] = edges[pair.b][pair.a] = pair
    left = {frozenset((pair.a, pair.b)) for pair in pairs}
    groups = []
    for centre in sorted((i for i in edges if len(edges[i]) > LARGE), key=lambda i: (-len(edges[i]), i)):
        if any(frozenset((centre, other)) in left for other in edges[centre]):
            groups.append(_group([centre, *edges[centre]], edges, left, centre))
    for pair in sorted(pairs, key=lambda pair: (-pair.similarity, pair.a, pair.b)):
        if frozenset((pair.a, pair.b)) in left:
            groups.append(_group(_clique(pair, edges), edges, left, None))
    return groups


def _group(
    members: Sequence[int], edges: Edges, left: set[frozenset[int]], centre: int | None
) -> tuple[tuple[int, ...], tuple[Pair, ...], int | None]:
    ordered = tuple(sorted(members))
    chosen = set(ordered)
    inside = tuple(edges[a][b] for a in ordered for b in sorted(edges[a]) if b > a and b in chosen)
    left.difference_update(frozenset((pair.a, pair.b)) for pair in inside)
    return ordered, inside, centre


def _clique(pair: Pair, edges: Edges) -> list[int]:
    """The two documents and as many more as are all tied to each other, the most alike first."""
    members = [pair.a, pair.b]
    nearest = sorted(
        edges[pair.a].keys() & edges[pair.b].keys(),
        key=lambda i: (-edges[pair.a][i].similarity - edges[pair.b][i].similarity, i),
    )
    for candidate in nearest:
        if all(candidate in edges[member] for member in members):
            members.append(candidate)
    return members


def choose_kept(documents: Sequence[StoredDocument], relation: Relation, pairs: Sequence[Pair]) -> tuple[int, str]:
    """The id of the document to keep and the reason: whole before part, then newest, most complete, best read."""
    if relation is Relation.IDENTICAL:
        return documents[0].id, "the bytes are the same everywhere: any one of the files will do"
    if relation is Relation.CONTAINED:
        return pairs[0].b, "the other document lies inside this one"
    if relation in _KEEP_ALL:
        return min(document.id for document in documents), _KEEP_ALL[relation]
    best = max(documents, key=_worth)
    return best.id, "; ".join(_reasons(best, [d for d in documents if d.id != best.id]) or ["nothing sets them apart"])


def _worth(document: StoredDocument) -> tuple[tuple[int, ...], str, str, float, int, int]:
    return _version(document), _year(document), _date(document), document.coverage, document.chars, -document.id


def _reasons(best: StoredDocument, others: Sequence[StoredDocument]) -> list[str]:
    reasons = []
    if _version(best) > max(map(_version, others)):
        reasons.append(f"its name has the highest version number ({'.'.join(map(str, _version(best)))})")
    if _year(best) > max(map(_year, others)):
        reasons.append(f"its name has the latest date ({_year(best)})")
    if (newest := _date(best)) and newest > max(map(_date, others)):
        reasons.append(f"the newest ({newest[:10]})")
    if best.coverage > max(d.coverage for d in others):
        reasons.append("more of it could be read")
    if best.chars > max(d.chars for d in others):
        reasons.append("the longest")
    return reasons


def _version(document: StoredDocument) -> tuple[int, ...]:
    """The version number in the document's file name or title, as in `contract_v2.pdf`; empty without one."""
    for text in (*(path.rsplit("/", 1)[-1] for path in document.paths), document.title):
        if match := _MARK.search(text.replace("_", " ")):
            return tuple(int(part) for part in (match[1] or match[2]).split("."))
    return ()


def _year(document: StoredDocument) -> str:
    """The year, or the date, in the document's file name, as in `budget-2025.xlsx`; empty without one."""
    names = (path.rsplit("/", 1)[-1] for path in document.paths)
    return max((match.group() for name in names for match in _YEAR.finditer(name)), default="")


def _date(document: StoredDocument) -> str:
    return document.modified or document.created or ""
