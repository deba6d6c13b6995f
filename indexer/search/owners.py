"""Which document each chunk belongs to, for all chunks at once: kept in memory until the library changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from indexer.datatypes import Ids
from indexer.library import Library


@dataclass(frozen=True)
class Owners:
    """Every chunk (ascending ids, which is the order within a document) and its document."""

    chunks: Ids
    documents: Ids

    def of(self, chunks: Ids) -> Ids:
        """The documents of some chunks, in order; a chunk that is not there is left out."""
        if not len(self.chunks):
            return self.chunks
        place = np.minimum(np.searchsorted(self.chunks, chunks), len(self.chunks) - 1)
        return np.asarray(self.documents[place[self.chunks[place] == chunks]], dtype=np.int64)

    @cached_property
    def by_document(self) -> tuple[Ids, Ids, Ids]:
        """The documents that have chunks, ascending; the first chunk of each; how many it has."""
        documents, first, counts = np.unique(self.documents, return_index=True, return_counts=True)
        return documents, self.chunks[first], counts.astype(np.int64)


_kept: WeakKeyDictionary[Library, tuple[int, Owners]] = WeakKeyDictionary()


def owners_of(library: Library) -> Owners:
    """The owners of a library's chunks as they are now."""
    generation = library.store.generation()
    kept = _kept.get(library)
    if kept is None or kept[0] != generation:
        ids = np.sort(library.store.chunk_ids())
        kept = (generation, Owners(ids, library.store.chunk_owner(ids)))
        _kept[library] = kept
    return kept[1]
