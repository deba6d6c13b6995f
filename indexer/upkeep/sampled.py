"""Whether stored embeddings are those of their texts: some chunks encoded anew and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexer.datatypes import Ids, Matrix, StoredChunk, Vector
from indexer.library import Library
from indexer.windows import Window, Windowing

LEAST_COSINE = 0.99
"""Below it an embedding is not that of its text; bfloat16 and storing in 16 bits stay above 0.999."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Chunks that were encoded anew: their documents, and the cosine of each stored embedding to the new one."""

    chunk_ids: Ids
    document_ids: Ids
    cosines: Vector

    @property
    def least(self) -> float:
        return float(self.cosines.min(initial=1.0))

    @property
    def mean(self) -> float:
        return float(self.cosines.mean()) if len(self.cosines) else 1.0

    @property
    def wrong(self) -> tuple[tuple[int, int, float], ...]:
        """Chunk, document and cosine where text and embedding do not belong together."""
        listed = zip(self.chunk_ids.tolist(), self.document_ids.tolist(), self.cosines.tolist(), strict=True)
        return tuple(one for one in listed if one[2] < LEAST_COSINE)


def encode_again(library: Library, count: int) -> Sampled:
    """Encode ``count`` chunks, drawn at random but always the same, with the library's encoder as it is set."""
    ids, stored = library.store.sample_embeddings(count)
    cosines = np.empty(0, dtype=np.float32)
    if len(ids):
        rows = _encoded(library, library.store.chunks(ids.tolist()))
        cosines = np.asarray((rows * stored).sum(1) / np.linalg.norm(stored, axis=1), dtype=np.float32)
    return Sampled(ids, library.store.chunk_owner(ids), cosines)


def _encoded(library: Library, sampled: Sequence[StoredChunk]) -> Matrix:
    """The embeddings of chunks made anew; those that share a pass with others, together with them."""
    windowing = Windowing.of(library.store.recipe, library.encoder)
    if not windowing.tokens:
        return library.encoder.encode_documents([one.chunk.text for one in sampled])
    wanted = {(one.document_id, one.chunk.position) for one in sampled}
    windows: list[Window] = []
    places: dict[tuple[int, int], int] = {}
    for document_id in dict.fromkeys(one.document_id for one in sampled):
        chunks = (one.chunk for one in library.store.document_chunks(document_id))
        for window in windowing.cut(chunks):
            keys = [(document_id, chunk.position) for chunk in window.chunks]
            if not wanted.isdisjoint(keys):
                first = len(places)
                places.update((key, first + place) for place, key in enumerate(keys))
                windows.append(window)
    rows = windowing.encode(library.encoder, windows)
    return rows[[places[one.document_id, one.chunk.position] for one in sampled]]
