"""A test collection in the BEIR layout: documents, queries, judgements and, where known, the places of the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.datatypes import Span
from indexer.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document of a collection: its text is what is indexed."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Where in a document a query is answered; the span counts in the document's text."""

    document: str
    span: Span


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and judged queries; a grade above 0 says that a document answers a query."""

    name: str
    documents: tuple[SourceDocument, ...]
    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]
    answers: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)

    @property
    def judged(self) -> list[str]:
        """The ids of the queries that have at least one right document, in the order of the file."""
        return [query for query in self.queries if any(grade > 0 for grade in self.grades.get(query, {}).values())]


def read_collection(folder: Path) -> Collection:
    """Read ``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv`` (or the only other one) and ``spans.jsonl``.

    Raises EvaluationError, naming the file and the line, for a part that is missing or cannot be read.
    """
    if not folder.is_dir():
        raise EvaluationError(f"There is no folder {folder}.")
    documents = tuple(
        SourceDocument(str(row["_id"]), str(row.get("title") or ""), str(row["text"]))
        for row in _rows(folder / "corpus.jsonl", "_id", "text")
    )
    queries = {str(row["_id"]): str(row["text"]) for row in _rows(folder / "queries.jsonl", "_id", "text")}
    collection = Collection(
        folder.resolve().name, documents, queries, _grades(_judgements_file(folder)), _answers(folder / "spans.jsonl")
    )
    known = {document.id for document in documents}
    judged = {document for grades in collection.grades.values() for document in grades}
    if not known:
        raise EvaluationError(f"{folder / 'corpus.jsonl'} has no documents.")
    if not collection.judged or not known & judged:
        raise EvaluationError(f"The judgements of {folder} name no query and document of the collection.")
    return collection


def _judgements_file(folder: Path) -> Path:
    test = folder / "qrels" / "test.tsv"
    if test.is_file():
        return test
    others = sorted((folder / "qrels").glob("*.tsv"))
    if len(others) != 1:
        raise EvaluationError(f"{test} is missing: it says which documents answer which queries.")
    return others[0]


def _rows(path: Path, *fields: str) -> Iterator[Mapping[str, Any]]:
    for number, line in _lines(path):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise EvaluationError(f"{path}, line {number}: {error}.") from error
        if not isinstance(row, dict) or any(field not in row for field in fields):
            raise EvaluationError(f"{path}, line {number}: a record with {' and '.join(fields)} is expected.")
        yield row


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} cannot be read: {error}.") from error
    # Only "\n" ends a line: splitlines would cut at characters that stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _grades(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        parts = line.strip().split("\t")
        if len(parts) == 4:  # TREC's own layout has a column that says nothing
            parts = [parts[0], *parts[2:]]
        try:
            query, document, grade = parts
            grades.setdefault(query, {})[document] = int(grade)
        except ValueError as error:
            if number > 1:
                raise EvaluationError(f"{path}, line {number}: query, document and grade are expected.") from error
    return grades


def _answers(path: Path) -> dict[str, tuple[Answer, ...]]:
    if not path.exists():
        return {}
    answers: dict[str, tuple[Answer, ...]] = {}
    for row in _rows(path, "query-id", "corpus-id", "start", "end"):
        try:
            answer = Answer(str(row["corpus-id"]), Span(int(row["start"]), int(row["end"])))
        except (TypeError, ValueError) as error:
            raise EvaluationError(
                f"{path}: the place of the answer to {row['query-id']!r} is wrong: {error}."
            ) from error
        answers[str(row["query-id"])] = (*answers.get(str(row["query-id"]), ()), answer)
    return answers
