"""How far a run has come, how fast it goes, and how long it will honestly still take."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from indexer.ingest.sample import kind_of
from indexer.store import FoundFile

WINDOW_SECONDS = 60.0
"""The pace is that of the last minute: a slow start (loading the encoder) does not spoil the estimate for long."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run. Bytes are those of files that are not unchanged; ``seconds_left`` may be unknown."""

    path: str
    documents_done: int
    documents_total: int
    bytes_done: int
    bytes_total: int
    tokens: int
    tokens_per_second: float
    seconds: float
    seconds_left: float | None


class Meter:
    """Counts what is done and tells the pace.

    The time left is that of the tokens still to come: the bytes left of each kind of file, times the tokens that a byte
    of that kind has given so far. A megabyte of a scanned PDF is not a megabyte of text.
    """

    def __init__(self, files: Iterable[FoundFile], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._left: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._dealt: Counter[str] = Counter()
        self._documents_total = self._documents = self._tokens = 0
        for file in files:
            self._left[kind_of(file.path)] += file.size
            self._documents_total += 1
        self._bytes_total = self._left.total()
        self._path = ""
        self._recent: deque[tuple[float, int, int]] = deque([(self._started, 0, 0)])

    def encoded(self, tokens: int) -> None:
        """Count tokens that went through the encoder."""
        self._tokens += tokens
        self._remember()

    def dealt_with(self, file: FoundFile, size: int, tokens: int) -> None:
        """Count bytes of a file whose text is stored, and the tokens that they held."""
        kind = kind_of(file.path)
        self._left[kind] -= size
        self._done[kind] += size
        self._dealt[kind] += tokens
        self._path = file.path
        self._remember()

    def finished(self) -> None:
        """Count a document."""
        self._documents += 1

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    def progress(self) -> Progress:
        """This moment."""
        now = self._clock()
        then, dealt_then, tokens_then = self._recent[0]
        elapsed = max(now - then, 1e-6)
        pace = (self._dealt.total() - dealt_then) / elapsed
        expected = self._expected_tokens()
        return Progress(
            path=self._path,
            documents_done=self._documents,
            documents_total=self._documents_total,
            bytes_done=self._bytes_total - self._left.total(),
            bytes_total=self._bytes_total,
            tokens=self._tokens,
            tokens_per_second=(self._tokens - tokens_then) / elapsed,
            seconds=now - self._started,
            seconds_left=expected / pace if pace > 0 else None,
        )

    def _expected_tokens(self) -> float:
        overall = self._dealt.total() / max(self._done.total(), 1)
        return sum(
            left * (self._dealt[kind] / self._done[kind] if self._done[kind] else overall)
            for kind, left in self._left.items()
        )

    def _remember(self) -> None:
        now = self._clock()
        self._recent.append((now, self._dealt.total(), self._tokens))
        while len(self._recent) > 2 and now - self._recent[0][0] > WINDOW_SECONDS:
            self._recent.popleft()
