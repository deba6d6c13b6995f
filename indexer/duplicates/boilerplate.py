"""The text that stands in many otherwise different documents, shown as it stands in one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexer.datatypes import StoredDocument
from indexer.duplicates.candidates import Candidates, Fingerprints
from indexer.duplicates.collection import Collection
from indexer.duplicates.results import Boilerplate
from indexer.duplicates.shingles import Shingled, contained_in, covered_by, fingerprints

_SHOWN = 10


def show_boilerplate(
    collection: Collection, documents: Sequence[StoredDocument], found: Fingerprints, candidates: Candidates
) -> tuple[Boilerplate, ...]:
    """The most widely spread boilerplate, each as a chunk of a document that has it."""
    shown: list[Boilerplate] = []
    left, spread = candidates.boilerplate, candidates.spread
    while len(left) and len(shown) < _SHOWN:
        widest = int(np.argmax(spread))
        document = documents[int(found.owners[np.flatnonzero(found.values == left[widest])[0]])]
        chunks = [stored.chunk.text for stored in collection.chunks(document.id)]
        shingled = Shingled.of(chunks)
        inside = covered_by(shingled.hashes, left[widest : widest + 1])
        text = chunks[max(int(np.searchsorted(shingled.starts, int(np.argmax(inside)), side="right")) - 1, 0)]
        shown.append(Boilerplate(text, int(spread[widest])))
        gone = np.union1d(fingerprints(Shingled.of([text]).hashes), left[widest : widest + 1])
        kept = ~contained_in(left, gone)
        left, spread = left[kept], spread[kept]
    return tuple(shown)
