from __future__ import annotations

from pathlib import Path

import numpy as np

from indexer.search.owners import owners_of
from tests.search.shelf import new_library, put


def test_owners_follow_the_library(tmp_path: Path) -> None:
    with new_library(tmp_path / "library") as library:
        empty = owners_of(library)
        assert not len(empty.of(np.array([7])))
        english = put(library, "/en.txt", "The harbour has many cranes. " * 60)
        chinese = put(library, "/zh.txt", "港口有很多起重机。" * 60)
        owners = owners_of(library)
        assert owners is owners_of(library)
        for document in (english, chinese):
            chunks = library.store.chunk_ids([document])
            assert len(chunks) > 1
            assert (owners.of(chunks) == document).all()
            place = owners.by_document[0].tolist().index(document)
            assert owners.by_document[1][place] == chunks.min()
            assert owners.by_document[2][place] == len(chunks)
        assert not len(owners.of(np.array([10**9])))
        library.store.remove_document(english)
        assert owners_of(library).by_document[0].tolist() == [chinese]
