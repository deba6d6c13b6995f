"""How far a run has come, how fast it goes, and how long it will honestly still take."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from indexer.ingest.events import Task
from indexer.ingest.sample import kind_of
from indexer.store import FoundFile

WINDOW_SECONDS = 60.0
"""The pace is that of the last minute: a slow start (loading the encoder) does not spoil the estimate for long."""

_TOKENS_A_BYTE = 0.25
"""Of text, until something is stored that tells."""

_UNSURE = 0.95
"""How much of a file counts as done at most while it is not known how much text it has."""


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
    of that kind has given so far. A megabyte of a scanned PDF is not a megabyte of text. The encoder takes the longest
    chunks of many documents first: what it has done counts at once, though its documents are not complete yet.
    """

    def __init__(self, files: Iterable[FoundFile], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._left: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._dealt: Counter[str] = Counter()
        self._credited: dict[str, int] = {}
        self._documents_total = self._documents = self._tokens = self._ready = self._shown = 0
        for file in files:
            self._left[kind_of(file.path)] += file.size
            self._documents_total += 1
        self._bytes_total = self._left.total()
        self._path = ""
        self._first: tuple[float, int] | None = None
        self._recent: deque[tuple[float, int, int]] = deque([(self._started, 0, 0)])

    def encoded(self, tokens: int) -> None:
        """Count tokens that went through the encoder."""
        if self._first is None:
            self._first = (self._clock(), tokens)
        self._tokens += tokens
        self.ready(tokens)

    def ready(self, tokens: int) -> None:
        """Count tokens that have their embeddings and wait for the rest of their document."""
        self._ready += tokens
        self._remember()

    def dealt_with(self, task: Task, tokens: int, written: int, reached: float | None = None) -> None:
        """Count tokens whose text is stored.

        ``reached`` is the share of the document that they end at, if that is known yet; else its bytes count as they
        are ``written``.
        """
        size, credited = task.size_on_disk, self._credited.get(task.on_disk, 0)
        if reached is not None and task.container is None:
            target = int(size * reached)
        else:
            target = min(credited + written, int(size * _UNSURE))
        self._dealt[kind_of(task.on_disk)] += tokens
        self._ready = max(0, self._ready - tokens)
        self._credit(task, max(target, credited))
        self._remember()

    def finished(self, task: Task) -> None:
        """Count a file, with whatever bytes of it were not counted yet."""
        self._credit(task, task.size_on_disk)
        del self._credited[task.on_disk]
        self._documents += 1
        self._remember()

    def _credit(self, task: Task, target: int) -> None:
        kind, more = kind_of(task.on_disk), target - self._credited.get(task.on_disk, 0)
        self._credited[task.on_disk] = target
        self._left[kind] -= more
        self._done[kind] += more
        self._path = task.file.path

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    def cost(self) -> tuple[float, float]:
        """What the run took so far: seconds that any run takes (loading the encoder), and seconds for each token.

        They cannot be told apart, and all counts as each token's, while the first batch is the most of what there was.
        """
        seconds = self.seconds
        then, first = self._first or (self._clock(), 0)
        if self._tokens < 2 * first or not first:
            return 0.0, seconds / max(self._tokens, 1)
        each = (self._clock() - then) / (self._tokens - first)
        return max(0.0, then - self._started - each * first), each

    def progress(self) -> Progress:
        """This moment."""
        now = self._clock()
        then, reached_then, tokens_then = self._recent[0]
        elapsed = max(now - then, 1e-6)
        pace = (self._dealt.total() + self._ready - reached_then) / elapsed
        expected = max(0.0, self._expected_tokens() - self._ready)
        self._shown = max(self._shown, self._bytes_done())
        return Progress(
            path=self._path,
            documents_done=self._documents,
            documents_total=self._documents_total,
            bytes_done=self._shown,
            bytes_total=self._bytes_total,
            tokens=self._tokens,
            tokens_per_second=(self._tokens - tokens_then) / elapsed,
            seconds=now - self._started,
            seconds_left=expected / pace if pace > 0 and self._dealt.total() else None,
        )

    def _bytes_done(self) -> int:
        """The bytes of what is stored, and by estimate of what is ready to be."""
        done, dealt = self._done.total(), self._dealt.total()
        rate = dealt / done if done and dealt else _TOKENS_A_BYTE
        return done + min(int(self._ready / rate), int(self._left.total() * _UNSURE))

    def _expected_tokens(self) -> float:
        overall = self._dealt.total() / max(self._done.total(), 1)
        return sum(
            left * (self._dealt[kind] / self._done[kind] if self._done[kind] else overall)
            for kind, left in self._left.items()
        )

    def _remember(self) -> None:
        now = self._clock()
        self._recent.append((now, self._dealt.total() + self._ready, self._tokens))
        while len(self._recent) > 2 and now - self._recent[0][0] > WINDOW_SECONDS:
            self._recent.popleft()
