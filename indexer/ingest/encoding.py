"""The encoder in a thread of its own, fed from a bounded look-ahead over the chunks of many documents."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexer.datatypes import Encoder, Matrix
from indexer.windows import Window, Windowing

WAVE = 1_024
"""Chunks the encoder takes at once: enough to fill batches with chunks of equal length, soon enough stored whole."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A batch that is done: a row for each key, and the seconds it took."""

    keys: tuple[bytes, ...]
    rows: Matrix
    seconds: float


@dataclass(frozen=True, slots=True)
class EncoderDone:
    """The encoder's thread has ended, by itself or by an error."""

    error: Exception | None = None


class Lookahead:
    """Windows that wait for the encoder, and the batch that waits to be stored. One thread puts, one takes."""

    def __init__(self) -> None:
        self._windows: deque[Window] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._unstored = 0
        self.stopped = False

    def put(self, windows: Sequence[Window]) -> None:
        """Add windows; the caller bounds how many may wait."""
        with self._changed:
            self._windows.extend(windows)
            self._changed.notify()

    def close(self) -> None:
        """Say that no more windows will come."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def stop(self) -> None:
        """Drop what waits; the encoder ends after the batch in hand."""
        with self._changed:
            self._windows.clear()
            self._closed = self.stopped = True
            self._changed.notify()

    def wait(self) -> bool:
        """Wait until a window is there to encode; False when none will come."""
        with self._changed:
            self._changed.wait_for(lambda: self._windows or self._closed)
            return bool(self._windows)

    def take(self, most: int = WAVE) -> list[Window]:
        """Everything that waits, up to ``most`` chunks, as soon as there is anything; empty when all is done."""
        self.wait()
        with self._changed:
            wave: list[Window] = []
            while self._windows and most > 0:
                wave.append(self._windows.popleft())
                most -= len(wave[-1].chunks)
            return wave

    def encoded(self) -> None:
        """Wait until the batch before this one is stored: a killed run must not lose a row of them."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unstored or self.stopped)
            self._unstored += 1

    def stored(self) -> None:
        """Say that the batch in hand is stored."""
        with self._changed:
            self._unstored -= 1
            self._changed.notify()


def encode_all(
    encoder: Encoder, windowing: Windowing, lookahead: Lookahead, hand_over: Callable[[Encoded | EncoderDone], None]
) -> None:
    """Encode wave after wave until the look-ahead is closed or stopped; every batch is handed over once it is done.

    The encoder is loaded once there is something to encode, while the reader goes on filling the look-ahead.
    """
    try:
        if lookahead.wait():
            encoder.prepare()
        while wave := lookahead.take():
            started = time.perf_counter()
            keys = [key for window in wave for key in window.keys]
            for batch in windowing.encode_in_batches(encoder, wave):
                now = time.perf_counter()
                lookahead.encoded()
                hand_over(Encoded(tuple(keys[at] for at in batch.positions), batch.rows, now - started))
                if lookahead.stopped:
                    break
                started = time.perf_counter()
    except Exception as error:  # whatever it is, the run must hear of it and end
        hand_over(EncoderDone(error))
    else:
        hand_over(EncoderDone())


class Credits:
    """How many chunks may be on their way between reader and store: what keeps memory flat."""

    def __init__(self, amount: int) -> None:
        self._amount = amount
        self._changed = threading.Condition()
        self._closed = False

    def take(self, count: int) -> bool:
        """Wait until ``count`` chunks more may be on their way; False when the run was stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._amount >= count or self._closed)
            self._amount -= count
            return not self._closed

    def give(self, count: int) -> None:
        """Take note that chunks have arrived."""
        with self._changed:
            self._amount += count
            self._changed.notify()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._closed = True
            self._changed.notify()
