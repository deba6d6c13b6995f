"""Language centring: taking away what all texts of a language have in common, so that languages can be compared.

A multilingual encoder gives every text of a language a large common part. Subtracting it, and renormalising, raised
finding a document by a question in the other language from 0.60 to over 0.9 nDCG@10 in a library of both, and cost
nothing in a library of one (see DESIGN.md section 7; the idea is the mean removal of "All-but-the-Top", Mu and
Viswanath 2018, done for each language).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexer.datatypes import Matrix, Vector

UNKNOWN = "und"
_PRIOR = 32.0
"""Chunks' worth of trust in the overall mean: a language with few chunks is centred mostly on what all have."""


@dataclass(frozen=True, slots=True)
class LanguageMeans:
    """The mean embedding of each language, of documents and of queries; rows in the order of ``languages``.

    ``languages`` ends with "und", the overall mean, used for any language that is not listed. ``counts`` are the
    chunks each estimate stood on; ``version`` changes with any value.
    """

    version: str
    languages: tuple[str, ...]
    documents: Matrix
    queries: Matrix
    counts: tuple[int, ...]

    @classmethod
    def none(cls, dimension: int) -> LanguageMeans:
        """The means before anything is known: centring changes nothing."""
        zeros = np.zeros((1, dimension), dtype=np.float32)
        return cls("none", (UNKNOWN,), zeros, zeros, (0,))

    @classmethod
    def build(
        cls,
        documents: Mapping[str, Vector],
        counts: Mapping[str, int],
        questions: Mapping[str, Vector] | None = None,
        sentences: Mapping[str, Vector] | None = None,
    ) -> LanguageMeans:
        """Means from what is known of a library, each of them an average of unit rows.

        ``documents`` and ``counts`` are the mean and number of each language's chunks, ``questions`` the mean of
        general questions in a language, ``sentences`` that of the library's own sentences; both of these under the
        query prompt. A language with few chunks leans on the overall mean. Queries are expected half way between
        general questions and the library's sentences. nDCG@10 on xquad_both by meaning alone: 0.967 so, 0.968 with the
        questions, 0.962 with the sentences, 0.699 without centring (tests/benchmarks/means.py, which does other sets).
        """
        names = sorted(documents)
        weights = np.array([counts[name] for name in names], dtype=np.float64)
        own = np.stack([documents[name] for name in names])
        overall = np.average(own, axis=0, weights=weights)
        trust = (weights / (weights + _PRIOR))[:, None]
        leaning = dict(zip(names, trust * own + (1 - trust) * overall, strict=True))
        questions, sentences = questions or {}, sentences or {}
        asked = _Asked(leaning, overall, questions, sentences)
        listed = sorted({*names, *questions} - {UNKNOWN})
        # The mean of a handful of chunks is mostly those chunks themselves: little of it is taken away.
        share = weights.sum() / (weights.sum() + _PRIOR / 2)
        return cls._versioned(
            (*listed, UNKNOWN),
            np.stack([*(leaning.get(name, overall) for name in listed), overall]).astype(np.float32) * share,
            np.stack([*(asked.mean(name) for name in listed), asked.mean(UNKNOWN)]).astype(np.float32) * share,
            (*(counts.get(name, 0) for name in listed), sum(counts[name] for name in names)),
        )

    @classmethod
    def _versioned(
        cls, languages: tuple[str, ...], documents: Matrix, queries: Matrix, counts: tuple[int, ...]
    ) -> LanguageMeans:
        digest = hashlib.blake2b(",".join(languages).encode(), digest_size=8)
        documents, queries = documents.astype(np.float32), queries.astype(np.float32)
        digest.update(documents.tobytes())
        digest.update(queries.tobytes())
        return cls(digest.hexdigest(), languages, documents, queries, counts)

    def centre_documents(self, rows: Matrix, languages: Sequence[str]) -> Matrix:
        """Rows of shape (n, dimension) less the mean of each one's language, of unit length again."""
        if self.version == "none":
            return rows
        return _unit(rows - self.documents[[self._position(language) for language in languages]])

    def centre_queries(self, rows: Matrix, language: str) -> Matrix:
        """Rows of queries in one language less the mean of such queries, of unit length again."""
        if self.version == "none":
            return rows
        return _unit(rows - self.queries[self._position(language)])

    def count(self, language: str) -> int:
        """How many chunks the estimate for a language stood on; 0 when it has none."""
        return self.counts[self.languages.index(language)] if language in self.languages else 0

    def to_json(self) -> dict[str, Any]:
        """A value that can be kept as JSON."""
        return {
            "languages": list(self.languages),
            "counts": list(self.counts),
            "documents": _packed(self.documents),
            "queries": _packed(self.queries),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LanguageMeans:
        """The means kept by ``to_json``."""
        languages = tuple(value["languages"])
        documents, queries = (_unpacked(value[side], len(languages)) for side in ("documents", "queries"))
        return cls._versioned(languages, documents, queries, tuple(value["counts"]))

    def _position(self, language: str) -> int:
        for name in (language, language.partition("-")[0]):  # zh-Hant is centred as zh until it has a mean of its own
            if name in self.languages:
                return self.languages.index(name)
        return len(self.languages) - 1


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where queries of a language are expected to lie."""

    documents: Mapping[str, Matrix]
    overall: Matrix
    questions: Mapping[str, Vector]
    sentences: Mapping[str, Vector]

    def mean(self, language: str) -> Matrix:
        general = self.questions.get(language)
        if general is None:
            general = self.documents.get(language, self.overall) + self._prompt_shift()
        if language in self.sentences:
            return np.asarray(general + (self.sentences[language] - general) / 2)
        return np.asarray(general + self._library_shift() / 2)

    def _prompt_shift(self) -> Matrix:
        """What the query prompt and brevity add to a text, on average over the languages where both are known."""
        return self._average(self.questions.keys() & self.documents.keys(), self.questions, self.documents)

    def _library_shift(self) -> Matrix:
        """How the library's sentences differ from general questions, on average over languages."""
        return self._average(self.sentences.keys() & self.questions.keys(), self.sentences, self.questions)

    def _average(self, names: Collection[str], these: Mapping[str, Matrix], those: Mapping[str, Matrix]) -> Matrix:
        shifts = [these[name] - those[name] for name in sorted(names)]
        return np.asarray(np.mean(shifts, axis=0) if shifts else np.zeros_like(self.overall))


def _unit(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def _packed(rows: Matrix) -> str:
    return base64.b64encode(np.ascontiguousarray(rows, dtype="<f4").tobytes()).decode("ascii")


def _unpacked(text: str, count: int) -> Matrix:
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(count, -1).astype(np.float32)
