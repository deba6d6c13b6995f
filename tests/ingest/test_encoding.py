from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from indexer.datatypes import Chunk, EncodedBatch, Span
from indexer.ingest.encoding import Credits, Encoded, EncoderDone, Lookahead, encode_all
from indexer.windows import Window, Windowing
from tests.fakes import FakeEncoder

PLAIN = Windowing()


def chunk(number: int, tokens: int = 2) -> Chunk:
    text = f"text {number}"
    return Chunk(number, Span(0, len(text)), text, tokens)


def texts(count: int) -> list[Window]:
    return list(Windowing().cut(map(chunk, range(count))))


def test_a_wave_is_everything_that_waits_up_to_its_size() -> None:
    lookahead = Lookahead()
    lookahead.put(texts(5))
    assert len(lookahead.take(3)) == 3
    assert len(lookahead.take(3)) == 2
    lookahead.close()
    assert lookahead.take() == []


def test_taking_waits_for_texts() -> None:
    lookahead, taken = Lookahead(), []
    thread = threading.Thread(target=lambda: taken.extend(lookahead.take()))
    thread.start()
    lookahead.put(texts(2))
    thread.join(10)
    assert len(taken) == 2


def run(encoder: FakeEncoder, lookahead: Lookahead, windowing: Windowing = PLAIN) -> list[Encoded | EncoderDone]:
    handed: list[Encoded | EncoderDone] = []

    def hand_over(event: Encoded | EncoderDone) -> None:
        handed.append(event)
        if isinstance(event, Encoded):
            lookahead.stored()

    encode_all(encoder, windowing, lookahead, hand_over)
    return handed


def test_every_text_is_encoded_once_and_rows_belong_to_their_keys() -> None:
    encoder, lookahead = FakeEncoder(batch=3), Lookahead()
    lookahead.put(texts(10))
    lookahead.close()
    *batches, done = run(encoder, lookahead)
    assert done == EncoderDone()
    rows = {
        key: row
        for batch in batches
        if isinstance(batch, Encoded)
        for key, row in zip(batch.keys, batch.rows, strict=True)
    }
    assert sorted(rows) == sorted(key for window in texts(10) for key in window.keys)
    for window in texts(10):
        assert (rows[window.keys[0]] == FakeEncoder().encode_documents(window.texts)[0]).all()


def test_chunks_of_a_window_are_encoded_together_and_a_wave_counts_chunks() -> None:
    lookahead, windowing = Lookahead(), Windowing(6)
    windows = list(windowing.cut(map(chunk, range(7))))
    assert [len(window.chunks) for window in windows] == [3, 3, 1]
    lookahead.put(windows)
    assert lookahead.take(4) == windows[:2]
    lookahead.put(windows)
    lookahead.close()
    *batches, done = run(FakeEncoder(), lookahead, windowing)
    assert done == EncoderDone()
    rows = {key: row for batch in batches for key, row in zip(batch.keys, batch.rows, strict=True)}
    assert rows.keys() == {key for window in windows for key in window.keys}
    alone = FakeEncoder().encode_documents(windows[0].texts)
    assert all(0.9 < rows[key] @ row < 0.9999 for key, row in zip(windows[0].keys, alone, strict=True))


def test_stopping_ends_after_the_batch_in_hand() -> None:
    encoder, lookahead = FakeEncoder(batch=3), Lookahead()
    lookahead.put(texts(10))
    handed: list[Encoded | EncoderDone] = []

    def hand_over(event: Encoded | EncoderDone) -> None:
        handed.append(event)
        lookahead.stop()

    encode_all(encoder, PLAIN, lookahead, hand_over)
    assert [type(event) for event in handed] == [Encoded, EncoderDone]
    assert len(encoder.encoded) == 3


def test_no_more_than_one_batch_waits_to_be_stored() -> None:
    encoder, lookahead = FakeEncoder(batch=2), Lookahead()
    lookahead.put(texts(10))
    lookahead.close()
    handed: list[Encoded | EncoderDone] = []
    thread = threading.Thread(target=encode_all, args=(encoder, PLAIN, lookahead, handed.append))
    thread.start()
    for stored in range(1, 6):
        thread.join(0.2)
        assert sum(isinstance(event, Encoded) for event in handed) == stored
        assert len(encoder.encoded) <= 2 * (stored + 1)
        lookahead.stored()
    thread.join(10)
    assert handed[-1] == EncoderDone()


class Broken(FakeEncoder):
    def encode_in_batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        raise MemoryError("too much")


def test_an_error_ends_the_thread_and_is_told() -> None:
    lookahead = Lookahead()
    lookahead.put(texts(1))
    (done,) = run(Broken(), lookahead)
    assert isinstance(done, EncoderDone)
    assert isinstance(done.error, MemoryError)


def test_credit_is_waited_for_and_a_closed_account_lets_nobody_wait() -> None:
    credit = Credits(2)
    assert credit.take(2)
    outcome: list[bool] = []
    thread = threading.Thread(target=lambda: outcome.append(credit.take(1)))
    thread.start()
    thread.join(0.1)
    assert thread.is_alive()
    credit.give(1)
    thread.join(10)
    assert outcome == [True]
    credit.close()
    assert not credit.take(5)


@pytest.mark.parametrize("count", [0, 1])
def test_a_closed_lookahead_gives_what_is_left(count: int) -> None:
    lookahead = Lookahead()
    lookahead.put(texts(count))
    lookahead.close()
    assert len(lookahead.take()) == count
