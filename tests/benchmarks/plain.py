"""Search quality of our encoding against a plain float32 loop of sentence-transformers: same chunks, same search.

    python -m tests.benchmarks.plain [--sets covidqa multifieldqa_zh] [--documents 24] [--encoder NAME] [--json FILE]

Each set is built twice, once with each way of encoding documents and queries, and asked the same questions. --documents
takes the first of a set and the questions that they answer (0: all; the plain loop takes its time). Goal: nDCG@10
within 0.002.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from indexer.datatypes import EncodedBatch, Matrix, Mode
from indexer.encode import load_encoder
from indexer.encode.base import FolderEncoder
from indexer.evaluate import Collection, EvaluateOptions, evaluate_library, read_collection
from indexer.evaluate.building import collection_library
from indexer.settings import Settings, load_settings
from tests.benchmarks.adding import print_rows
from tests.benchmarks.material import evaluation_folder

BATCH = 32
MODES = (Mode.HYBRID, Mode.DENSE)


class PlainLoop:
    """What the usual script does: ``model.encode`` in float32, 32 texts at a time in the order they come."""

    def __init__(self, ours: FolderEncoder) -> None:
        from sentence_transformers import SentenceTransformer

        self._ours = ours
        self._model = SentenceTransformer(str(ours.folder.path), device="cpu", local_files_only=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)  # its name, dimension, prompts and tokens

    def prepare(self) -> None:
        """It is loaded already."""

    def _encode(self, texts: Sequence[str], prompt: str) -> Matrix:
        rows = self._model.encode(list(texts), batch_size=BATCH, prompt=prompt, normalize_embeddings=True)
        return np.asarray(rows, dtype=np.float32)

    def encode_in_batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        for first in range(0, len(texts), BATCH):
            some = texts[first : first + BATCH]
            positions = np.arange(first, first + len(some))
            yield EncodedBatch(positions, self._encode(some, self._ours.document_prompt), 0)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return self._encode(texts, self._ours.document_prompt)

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        return self._encode(texts, self._ours.query_prompt)


def first_documents(collection: Collection, count: int) -> Collection:
    """The collection's first documents, with the questions that they answer."""
    if not count:
        return collection
    documents = collection.documents[:count]
    kept = {document.id for document in documents}
    grades = {
        query: {document: grade for document, grade in graded.items() if document in kept}
        for query, graded in collection.grades.items()
    }
    asked = {query: text for query, text in collection.queries.items() if any(grades.get(query, {}).values())}
    answers = {query: found for query, found in collection.answers.items() if query in asked}
    return replace(collection, documents=documents, queries=asked, grades=grades, answers=answers)


def compare(folder: Path, count: int, settings: Settings) -> list[dict[str, Any]]:
    """nDCG@10 of both ways of encoding, by mode, and the least cosine between their rows."""
    collection = first_documents(read_collection(folder), count)
    ours = load_encoder(settings.encoder, settings=settings)
    assert isinstance(ours, FolderEncoder)
    found: list[dict[Mode, float]] = []
    rows: list[Matrix] = []
    tokens = 0
    for encoder in (ours, PlainLoop(ours)):
        with (
            tempfile.TemporaryDirectory() as place,
            collection_library(collection, settings, encoder=encoder, directory=Path(place)) as library,
        ):
            measured = [evaluate_library(library, collection, EvaluateOptions(mode)) for mode in MODES]
            found.append({one.mode: float(one.figures["ndcg@10"] or 0) for one in measured})
            rows.append(library.store.chunk_embeddings(library.store.chunk_ids()))
            tokens = measured[0].tokens
    cosines = (rows[0] * rows[1]).sum(1) / np.linalg.norm(rows[0], axis=1) / np.linalg.norm(rows[1], axis=1)
    return [
        {
            "set": collection.name,
            "documents": len(collection.documents),
            "questions": len(collection.judged),
            "tokens": tokens,
            "mode": mode.value,
            "ours": round(found[0][mode], 4),
            "plain loop": round(found[1][mode], 4),
            "difference": round(found[0][mode] - found[1][mode], 4),
            "least cosine": round(float(cosines.min()), 5),
        }
        for mode in MODES
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["covidqa", "multifieldqa_zh"])
    parser.add_argument("--documents", type=int, default=24)
    parser.add_argument("--encoder", default="e5-small")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    evaluation = evaluation_folder()
    if evaluation is None:
        raise SystemExit("The evaluation sets are not there: say where with LONGDOC_EVAL.")
    rows: list[dict[str, Any]] = []
    for name in options.sets:
        rows.extend(compare(evaluation / name, options.documents, replace(load_settings(), encoder=options.encoder)))
        print_rows(rows)
    if options.json:
        options.json.write_text(json.dumps({"benchmark": "plain", "rows": rows}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
