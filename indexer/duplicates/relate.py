"""From an alignment to a relation: the rules, in one place, with every threshold fixed."""

from __future__ import annotations

import re

from indexer.duplicates.align import Alignment
from indexer.duplicates.differences import same_words, unequal_sentences
from indexer.duplicates.results import Relation

THRESHOLD = 0.5
"""Jaccard of the 8-character shingles from which two texts are near-duplicates: half of all that they say."""

CONTAINED = 0.8
"""The part of a document that must be found in a longer one."""

CONTAINED_CHARS = 200
"""The least of its own (comparable characters that are no boilerplate) that a contained document must have."""

OWN_PART = 0.6
"""With boilerplate left out, a near-duplicate must still reach this part of the threshold."""

SHORTER = 0.8
"""How long a contained document may be at most, as a part of the one that holds it."""

ALIKE_AS_A_WHOLE = 0.9
"""Two texts this alike are near-duplicates even if all of it is boilerplate: two copies of a licence."""

SHARED_BOILERPLATE = 0.1
SCRIPTS_APART = 0.3
_FURNITURE_CHARS = 120
_DIGITS = re.compile(r"\d+")


def relate(alignment: Alignment, threshold: float = THRESHOLD) -> Relation | None:
    """The relation of two documents by their alignment alone; None when they are unrelated.

    Whether versions are in fact the same text is for `same_text`.
    """
    if alignment.raw_jaccard >= threshold:
        if other_scripts(alignment):
            return Relation.TRANSLATION
        if alignment.raw_jaccard >= ALIKE_AS_A_WHOLE or alignment.jaccard >= OWN_PART * threshold:
            return Relation.VERSION
        return Relation.BOILERPLATE
    if _contained(alignment):
        return Relation.TRANSLATION if other_scripts(alignment) else Relation.CONTAINED
    if alignment.sections and alignment.raw_jaccard < THRESHOLD:
        return Relation.SECTION
    if alignment.raw_jaccard - alignment.jaccard > SHARED_BOILERPLATE:
        return Relation.BOILERPLATE
    return None


def _contained(alignment: Alignment) -> bool:
    """Whether most of the shorter document, which has something of its own, is found in a clearly longer one."""
    shorter, share = min((alignment.own_a, alignment.share_a_in_b), (alignment.own_b, alignment.share_b_in_a))
    longer = max(alignment.own_a, alignment.own_b)
    return share >= CONTAINED and shorter >= CONTAINED_CHARS and shorter <= SHORTER * longer


def other_scripts(alignment: Alignment) -> bool:
    """Whether what the two documents do not share is Latin in one and another script in the other."""
    if alignment.script_a is None or alignment.script_b is None:
        return False
    return abs(alignment.script_a - alignment.script_b) >= SCRIPTS_APART


def same_text(before: str, after: str) -> bool:
    """Whether two texts say the same, whatever their layout: no word, number or name differs.

    What only one side has may be the furniture of its pages: short lines that come again and again, or page numbers.
    """
    if same_words(before, after):
        return True
    extra = []
    for old, new in unequal_sentences(before, after):
        line = (old.text if old else "") + (new.text if new else "")
        if (old and new) or len(line) > _FURNITURE_CHARS:
            return False
        extra.append(_DIGITS.sub("#", line))
    return all(re.fullmatch(r"\W*#\W*", line) or extra.count(line) > 1 for line in extra)
