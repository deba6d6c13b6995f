"""A collection in memory, for tests of what compares documents."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from indexer.datatypes import Chunk, Ids, Matrix, Span, Status, StoredChunk, StoredDocument
from tests.fakes import FakeEncoder


def stored_document(number: int, text: str = "", **fields: object) -> StoredDocument:
    values: dict[str, object] = {
        "id": number, "sha256": f"{number:064x}", "paths": (f"/folder/{number}.txt",), "status": Status.INDEXED,
        "reason": None, "title": f"Document {number}", "author": None, "created": None, "modified": None,
        "language": "en", "media_type": "text/plain", "bytes": len(text), "page_count": None, "chars": len(text),
        "tokens": len(text) // 4, "chunk_count": 0, "coverage": 1.0, "unread_pages": (), "remarks": (), "tags": (),
        "added": "2024-01-01", "seconds": 0.0,
    }  # fmt: skip
    return StoredDocument(**{**values, **fields})  # type: ignore[arg-type]  # a test may set any field


class MemoryCollection:
    """Documents given by their texts, cut every few sentences; embeddings by the fake encoder unless given."""

    def __init__(self) -> None:
        self._documents: dict[int, StoredDocument] = {}
        self._chunks: dict[int, list[StoredChunk]] = {}
        self._rows: list[Matrix] = []
        self._encoder = FakeEncoder()

    def add(self, text: str, *, rows: Matrix | None = None, size: int = 600, **fields: object) -> int:
        number = len(self._documents) + 1
        pieces = list(_cut(text, size))
        first = sum(map(len, self._chunks.values())) + 1
        start = 0
        chunks = []
        for position, piece in enumerate(pieces):
            chunk = Chunk(position, Span(start, start + len(piece)), piece, len(piece) // 4)
            chunks.append(StoredChunk(first + position, number, chunk))
            start += len(piece)
        self._chunks[number] = chunks
        self._rows.append(self._encoder.encode_documents(pieces) if rows is None else rows)
        self._documents[number] = stored_document(number, text, **{"chunk_count": len(pieces), **fields})
        return number

    def documents(self) -> Sequence[StoredDocument]:
        return list(self._documents.values())

    def document(self, number: int) -> StoredDocument:
        return self._documents[number]

    def chunks(self, document_id: int) -> Sequence[StoredChunk]:
        return self._chunks[document_id]

    def text(self, document_id: int) -> str:
        return "".join(stored.chunk.text for stored in self._chunks[document_id])

    def chunk_ids(self, document_id: int) -> Ids:
        return np.array([stored.id for stored in self._chunks[document_id]], dtype=np.int64)

    def document_vectors(self) -> tuple[Ids, Matrix]:
        means = [rows.mean(axis=0) for rows in self._rows]
        return np.arange(1, len(means) + 1), np.asarray(means, dtype=np.float32)

    def embeddings(self, chunk_ids: Ids) -> Matrix:
        return np.concatenate(self._rows)[chunk_ids - 1]


def _cut(text: str, size: int) -> list[str]:
    pieces, current = [], ""
    for sentence in text.split(". "):
        current += sentence + ". "
        if len(current) >= size:
            pieces.append(current)
            current = ""
    return [*pieces, current] if current else pieces


_SYLLABLES = (
    "ba",
    "ko",
    "ri",
    "ten",
    "mu",
    "sal",
    "ver",
    "din",
    "pol",
    "gra",
    "shi",
    "lon",
    "quet",
    "fer",
    "nau",
    "dri",
)


def prose(seed: int, sentences: int = 40) -> str:
    """Sentences of invented words, the same for the same seed and unlike those of another."""
    chance = random.Random(seed)
    lexicon = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(400)]
    made = (" ".join(chance.choices(lexicon, k=chance.randint(8, 16))).capitalize() for _ in range(sentences))
    return ". ".join(made) + ". "


def chinese_prose(seed: int, sentences: int = 40) -> str:
    chance = random.Random(seed)
    characters = [chr(chance.randint(0x4E00, 0x9000)) for _ in range(600)]
    return "".join("".join(chance.choices(characters, k=chance.randint(12, 30))) + "。" for _ in range(sentences))
