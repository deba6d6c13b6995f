"""A classifier on the stored vectors: learn from documents somebody has labelled, and tag the others."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from indexer.clusters.build import Vectors
from indexer.clusters.documents import document_rows
from indexer.datatypes import StoredDocument
from indexer.errors import LongdocError

if TYPE_CHECKING:
    from indexer.library import Library

FOLDS = 5
_LEAST = 2


@dataclass(frozen=True, slots=True)
class ClassifyOptions:
    """``confidence``: the least probability at which a document is tagged; ``apply``: write the tags."""

    confidence: float = 0.8
    apply: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """The label a document was given and how probable the model takes it to be, 0 to 1."""

    document: int
    label: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Classification:
    """What was learnt and how well, by cross-validation over the labelled documents, and what came of the rest.

    ``majority`` is the accuracy of always saying the most frequent label. ``assigned`` holds what is above the
    confidence, ``undecided`` counts the rest; ``unknown`` names rows of the file that match no document.
    """

    classes: tuple[str, ...]
    labelled: int
    accuracy: float
    macro_f1: float
    majority: float
    folds: int
    assigned: tuple[Assignment, ...]
    undecided: int
    unknown: tuple[str, ...]


def classify(library: Library, labels: Path, options: ClassifyOptions | None = None) -> Classification:
    """Learn from a CSV file of documents and labels, and tag the other documents of the library.

    The file's columns are a document (id, path, file name or title) and its label, with or without a header.
    Raises LongdocError when too little is labelled to learn from.
    """
    options = options or ClassifyOptions()
    given, unknown = _match(read_labels(labels), list(library.store.documents()))
    result = learn(document_rows(library), given, options, unknown)
    if options.apply and result.assigned:
        by_label: dict[str, list[int]] = defaultdict(list)
        for assignment in result.assigned:
            by_label[assignment.label].append(assignment.document)
        with library.write_lock():
            for label, documents in by_label.items():
                library.store.tag(documents, [label])
    return result


def read_labels(path: Path) -> list[tuple[str, str]]:
    """The rows of a labels file: what names a document, and the label. Raises LongdocError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LongdocError(f"{path} cannot be read as UTF-8 text: {error}.") from error
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if any(cell.strip() for cell in row)]
    for number, row in enumerate(rows, start=1):
        if len(row) < 2 or not row[0].strip() or not row[1].strip():
            raise LongdocError(f"{path}: row {number} needs a document and a label, separated by {delimiter!r}.")
    if rows and rows[0][1].strip().casefold() in ("label", "class", "category", "tag"):
        rows = rows[1:]
    return [(row[0].strip(), row[1].strip()) for row in rows]


def _match(rows: Iterable[tuple[str, str]], documents: list[StoredDocument]) -> tuple[dict[int, str], tuple[str, ...]]:
    """The label of each document that a row names by id, path, file name (also without its ending) or title."""
    names: dict[str, set[int]] = defaultdict(set)
    for document in documents:
        for path in document.paths:
            for name in (path, Path(path).name, Path(path).stem):
                names[name].add(document.id)
        names[document.title].add(document.id)
    ids = {str(document.id): document.id for document in documents}
    given: dict[int, str] = {}
    unknown = []
    for name, label in rows:
        found = names.get(name) or ({ids[name]} if name in ids else set())
        if len(found) != 1:
            unknown.append(name)
        given.update(dict.fromkeys(found, label) if len(found) == 1 else {})
    return given, tuple(unknown)


def learn(
    vectors: Vectors, given: Mapping[int, str], options: ClassifyOptions, unknown: tuple[str, ...] = ()
) -> Classification:
    """Train a linear model (logistic regression) on the labelled documents' vectors; raises LongdocError."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    labelled = np.array([document in given for document in vectors.ids.tolist()], dtype=np.bool_)
    names = np.array([given[document] for document in vectors.ids[labelled].tolist()])
    counts = Counter(names.tolist())
    _check(counts)
    rows = vectors.rows - vectors.rows.mean(axis=0)
    model = LogisticRegression(C=10.0, max_iter=2000, class_weight="balanced", random_state=options.seed)
    folds = min(FOLDS, min(counts.values()))
    split = StratifiedKFold(folds, shuffle=True, random_state=options.seed)
    guessed = cross_val_predict(model, rows[labelled], names, cv=split)
    model.fit(rows[labelled], names)
    rest = np.flatnonzero(~labelled)
    chances = model.predict_proba(rows[rest]) if len(rest) else np.zeros((0, len(counts)))
    best = chances.argmax(axis=1)
    assigned = tuple(
        Assignment(int(vectors.ids[index]), str(model.classes_[label]), round(float(chance[label]), 4))
        for index, label, chance in zip(rest.tolist(), best.tolist(), chances, strict=True)
        if chance[label] >= options.confidence
    )
    return Classification(
        classes=tuple(str(name) for name in model.classes_),
        labelled=int(labelled.sum()),
        accuracy=round(float((guessed == names).mean()), 4),
        macro_f1=round(float(f1_score(names, guessed, average="macro")), 4),
        majority=round(max(counts.values()) / len(names), 4),
        folds=folds,
        assigned=assigned,
        undecided=len(rest) - len(assigned),
        unknown=unknown,
    )


def _check(counts: Counter[str]) -> None:
    if len(counts) < 2:
        raise LongdocError(
            f"There are labelled documents of {len(counts)} label(s) only; at least two labels are needed. "
            "The first column must hold a document's id, path, file name or title."
        )
    few = sorted(label for label, count in counts.items() if count < _LEAST)
    if few:
        raise LongdocError(
            f"At least two documents a label are needed to test what was learnt; too few for: {', '.join(few)}."
        )
