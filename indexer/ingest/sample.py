"""A few files that stand for a whole folder, and what the whole would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from indexer.datatypes import Estimate, FileReport
from indexer.store import FoundFile


def choose(files: Sequence[FoundFile], count: int) -> tuple[FoundFile, ...]:
    """``count`` files spread evenly over types and, within a type, over sizes; always the same for the same files."""
    if count >= len(files):
        return tuple(files)
    ordered = sorted(files, key=lambda file: (kind_of(file.path), file.size, file.path))
    step = len(ordered) / count
    return tuple(ordered[int((place + 0.5) * step)] for place in range(count))


def kind_of(path: str) -> str:
    """The ending of a file's name, in small letters: what files are alike by before they are read."""
    return PurePath(path).suffix.lower()


def extrapolate(
    files: Sequence[FoundFile], reports: Iterable[FileReport], seconds_per_token: float, disk_per_token: float
) -> Estimate:
    """What all ``files`` would cost, from the reports of some of them.

    A type's tokens go by its bytes; a type that the sample lacks goes by the bytes of all sampled types together.
    """
    sizes = {file.path: file.size for file in files}
    sampled: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for report in reports:
        if report.path in sizes:
            sampled[kind_of(report.path)] += sizes[report.path]
            tokens[kind_of(report.path)] += report.tokens
    overall = tokens.total() / max(sampled.total(), 1)
    expected = sum(
        file.size * (tokens[kind] / sampled[kind] if sampled[kind := kind_of(file.path)] else overall) for file in files
    )
    return Estimate(
        files=len(files),
        bytes=sum(sizes.values()),
        tokens=round(expected),
        seconds=expected * seconds_per_token,
        disk_bytes=round(expected * disk_per_token),
    )
