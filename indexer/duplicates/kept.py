"""What earlier comparisons of a library found, kept beside it, so that a run costs only what is new.

It is derived: the fingerprints of each document and the verdict on each pair that was compared, in a sealed file that
can be thrown away at any time. A document is known by its id and its bytes, a verdict by its two documents and by the
boilerplate that was left out of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from indexer.datatypes import StoredDocument
from indexer.duplicates.results import ChunkMatch, Pair, Relation, Section
from indexer.duplicates.shingles import Hashes, contained_in
from indexer.errors import DamagedError
from indexer.sealed import read_sealed, write_sealed

logger = logging.getLogger(__name__)

FILE_NAME = "duplicates.kept"
_VERSION = 1
"""Grows when fingerprints or relations are found in another way: what was kept before is then found anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """A document's fingerprints, ascending, and its length in bytes of UTF-8 without white space."""

    values: Hashes
    length: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of comparing two documents: their pair, None when they are unrelated.

    ``boilerplate`` stands for what was left out of them; the verdict holds as long as that is the same.
    """

    boilerplate: int
    pair: Pair | None


def key_of(document: StoredDocument) -> str:
    """What a document is known by: its id, which a restored library may give to another, and its bytes."""
    return f"{document.id} {(document.sha256 or '')[:16]}"


@dataclass(slots=True)
class Kept:
    """What is known of documents, by `key_of`, and of pairs of them at one threshold.

    ``translated``: the documents (ids) that were compared with those in other languages; ``translations``: what came
    of it.
    """

    threshold: float
    encoder: str = ""
    prints: dict[str, Print] = field(default_factory=dict)
    verdicts: dict[tuple[int, int], Verdict] = field(default_factory=dict)
    translated: set[int] = field(default_factory=set)
    translations: list[Pair] = field(default_factory=list)

    def forget_all_but(self, documents: Sequence[StoredDocument]) -> None:
        """Drop what is known of documents that are gone."""
        keys = {key_of(document): document.id for document in documents}
        self.prints = {key: known for key, known in self.prints.items() if key in keys}
        ids = {keys[key] for key in self.prints}
        self.verdicts = {pair: known for pair, known in self.verdicts.items() if ids.issuperset(pair)}
        self.translated &= ids
        self.translations = [pair for pair in self.translations if ids.issuperset((pair.a, pair.b))]


def read_kept(directory: Path, threshold: float, encoder: str) -> Kept:
    """What is kept in a library's directory; nothing when there is none, when it is damaged or of another version.

    Verdicts found at another threshold and translations found by another encoder do not count.
    """
    nothing = Kept(threshold, encoder)
    try:
        told, parts = read_sealed(directory / FILE_NAME)
    except FileNotFoundError:
        return nothing
    except (DamagedError, OSError) as error:
        logger.warning("%s What it held is found anew.", error)
        return nothing
    if told["version"] != _VERSION:
        return nothing
    values = np.frombuffer(parts["values"], np.uint64)
    ends = np.cumsum(np.array(told["sizes"], dtype=np.int64)).tolist()
    rows = zip(told["keys"], told["lengths"], [0, *ends], ends, strict=False)
    prints = {key: Print(values[start:end], length) for key, length, start, end in rows}
    translations = [pair for pair in map(_pair, told["translations"]) if pair is not None]
    verdicts = _verdicts(told["verdicts"]) if told["threshold"] == threshold else {}
    if told["encoder"] != encoder:
        return Kept(threshold, encoder, prints, verdicts)
    return Kept(threshold, encoder, prints, verdicts, set(told["translated"]), translations)


def write_kept(directory: Path, kept: Kept) -> None:
    """Keep it in a library's directory, where that can be written to."""
    if not os.access(directory, os.W_OK):
        return
    told = {
        "version": _VERSION,
        "threshold": kept.threshold,
        "encoder": kept.encoder,
        "keys": list(kept.prints),
        "lengths": [known.length for known in kept.prints.values()],
        "sizes": [len(known.values) for known in kept.prints.values()],
        "verdicts": [[*ids, known.boilerplate, _plain(known.pair)] for ids, known in kept.verdicts.items()],
        "translated": sorted(kept.translated),
        "translations": list(map(_plain, kept.translations)),
    }
    values = np.concatenate([known.values for known in kept.prints.values()] or [np.zeros(0, np.uint64)])
    try:
        write_sealed(directory / FILE_NAME, told, {"values": values.tobytes()})
    except OSError as error:
        logger.warning("What was compared could not be kept (%s); it will be compared again.", error)


def _verdicts(rows: Sequence[Sequence[Any]]) -> dict[tuple[int, int], Verdict]:
    return {(a, b): Verdict(boilerplate, _pair(pair)) for a, b, boilerplate, pair in rows}


def _plain(pair: Pair | None) -> list[Any] | None:
    if pair is None:
        return None
    matches = [[match.position_a, match.position_b, match.share] for match in pair.matches]
    sections = [[s.first_a, s.last_a, s.first_b, s.last_b, s.length] for s in pair.sections]
    figures = [pair.similarity, pair.share_a_in_b, pair.share_b_in_a, pair.in_order, pair.shared_chunks]
    return [pair.a, pair.b, pair.relation.value, *figures, matches, sections]


def _pair(plain: Sequence[Any] | None) -> Pair | None:
    if plain is None:
        return None
    a, b, relation, similarity, a_in_b, b_in_a, in_order, shared, matches, sections = plain
    found, long = tuple(ChunkMatch(*match) for match in matches), tuple(Section(*section) for section in sections)
    return Pair(a, b, Relation(relation), similarity, a_in_b, b_in_a, in_order, shared, found, long)


def digests(prints: Sequence[Print], boilerplate: Hashes) -> Iterator[int]:
    """For each document a number that stands for its fingerprints that are boilerplate."""
    for known in prints:
        yield int(np.bitwise_xor.reduce(known.values[contained_in(known.values, boilerplate)]))
