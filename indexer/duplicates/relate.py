"""From an alignment to a relation: the rules, in one place, with every threshold fixed."""

from __future__ import annotations

import re

from indexer.duplicates.align import Alignment
from indexer.duplicates.differences import find_differences
from indexer.duplicates.results import Relation

THRESHOLD = 0.5
"""Jaccard of the 8-character shingles from which two texts are near-duplicates: half of all that they say."""

CONTAINED = 0.8
"""The part of a document that must be found in a longer one."""

CONTAINED_CHARS = 200
"""The least of its own (comparable characters that are no boilerplate) that a contained document must have."""

OWN_PART = 0.6
"""With boilerplate left out, a near-duplicate must still reach this part of the threshold."""

ALIKE_AS_A_WHOLE = 0.9
SAME_TEXT = 0.9
_FURNITURE_CHARS = 120
_DIGITS = re.compile(r"\d+")


def relate(alignment: Alignment, threshold: float = THRESHOLD) -> Relation | None:
    """The relation of two documents by their shares alone: version, contained, boilerplate, or None when unrelated.

    Whether versions are in fact the same text is for `same_text`, whether they are translations for their languages.
    """
    if alignment.raw_jaccard >= threshold:
        if alignment.raw_jaccard >= ALIKE_AS_A_WHOLE or alignment.jaccard >= OWN_PART * threshold:
            return Relation.VERSION
        return Relation.BOILERPLATE
    own = (alignment.own_a * alignment.chars_a, alignment.own_b * alignment.chars_b)
    shares = (alignment.share_a_in_b, alignment.share_b_in_a)
    if any(share >= CONTAINED and size >= CONTAINED_CHARS for share, size in zip(shares, own, strict=True)):
        return Relation.CONTAINED
    if min(alignment.own_a, alignment.own_b) < 1 and alignment.raw_jaccard - alignment.jaccard > 0.1:
        return Relation.BOILERPLATE
    return None


def same_text(before: str, after: str) -> bool:
    """Whether two texts say the same, whatever their layout: no word, number or name differs.

    What only one side has may be the furniture of its pages: short lines that come again and again, or page numbers.
    """
    differences = find_differences(before, after)
    if any(d.kind == "changed" or len(d.before + d.after) > _FURNITURE_CHARS for d in differences):
        return False
    extra = [_DIGITS.sub("#", difference.before or difference.after) for difference in differences]
    return all(re.fullmatch(r"\W*#\W*", line) or extra.count(line) > 1 for line in extra)
