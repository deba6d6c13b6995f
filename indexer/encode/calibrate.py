"""Measures for some seconds which precision, threads and batch size are fastest here, and what a token costs in memory.

A cheaper precision must be faster than float32 and keep a cosine of at least 0.999 to it, or it is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import psutil
import torch

from indexer.datatypes import Matrix
from indexer.encode.batches import Forward, TokenBudget, fill_batches
from indexer.encode.folder import EncoderSpec, ModelFolder
from indexer.encode.precision import LEAST_COSINE, Precision
from indexer.encode.tokens import TextTokenizer, TokenIds
from indexer.encode.tuning import DEFAULT_BATCH_TOKENS, Calibration, Trial
from indexer.machine import read_cores, read_processor

_SECONDS = 5.0  # for all trials; what is under way is finished
_BUDGETS = (4096, 1024, 8192)
_LEAST_SAMPLE = 3
_SAMPLE_TOKENS = 192
_SAMPLE_COUNT = 12
_SENTENCES = (
    "The supplier bears the costs of a late delivery unless the buyer had asked for another date in writing.",
    "Before the pump is opened, close both valves, wait until the pressure gauge shows zero, and drain the housing.",
    "供应商应当在收到书面通知后十个工作日内更换有缺陷的部件，并承担由此产生的全部费用。",
    "Revenue rose by 4.2 % to 18.6 million, while the order backlog fell from 240 to 198 machines.",
    "会议决定将年度检修推迟到三月，由生产部和安全部共同制定详细计划，并在下次会议上报告。",
    "We compare three architectures on inputs of up to 8,192 tokens and report the mean of five runs.",
    "Der Vertrag verlängert sich um ein Jahr, wenn er nicht drei Monate vor Ablauf gekündigt wird.",
    "La garantie ne couvre pas les dommages causés par un entretien insuffisant ou des pièces étrangères.",
    "§ 4.2(b): the liability of either party is limited to EUR 250,000 for each case of damage.",
    "图 3 显示了温度与流量之间的关系：当温度超过 80 ℃ 时，流量明显下降。",
)


class Calibrator:
    """Tries ways of working on the same sample texts, within a few seconds."""

    def __init__(
        self,
        folder: ModelFolder,
        make: Callable[[Precision], Forward],
        precisions: Sequence[Precision],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._clock = clock
        self._make, self._precisions = make, precisions
        self._length = min(_SAMPLE_TOKENS, folder.max_length)
        self._sample = sample_sequences(TextTokenizer(folder.transformer / "tokenizer.json"), self._length)
        self._began = self._clock()
        self._before = _Work.now()
        self._pace = 1.0
        self._trials: list[Trial] = []

    def run(self, spec: EncoderSpec) -> Calibration:
        """Measure precisions, then threads, then batch sizes, each with the best so far, while there is time."""
        cores = read_cores()
        torch.set_num_threads(cores.usable)
        model = self._make(Precision.FLOAT32)
        self._pace = self._glance(model)
        affordable = int(self._pace * _SECONDS / 10 / self._length)  # a busy or weak machine: fewer texts a trial
        self._sample = self._sample[: max(_LEAST_SAMPLE, affordable)]
        best, reference = self._try(model, Precision.FLOAT32, cores.usable, DEFAULT_BATCH_TOKENS, None)
        for precision in self._precisions[1:]:
            cheaper = self._make(precision)
            trial = self._judge(cheaper, precision, cores.usable, reference, best)
            if trial.refused is None:
                best, model = trial, cheaper
        for threads in {min(cores.physical, cores.allowed), cores.allowed} - {cores.usable}:
            best = self._better(best, model, threads, best.batch_tokens, reference)
        resident = psutil.Process().memory_info
        before, bytes_per_token = resident().rss, model.bytes_per_token
        for budget in _BUDGETS:
            best = self._better(best, model, best.threads, budget, reference)
            grown = (resident().rss - before) // max(1, budget - DEFAULT_BATCH_TOKENS)
            bytes_per_token = max(bytes_per_token, grown if budget > DEFAULT_BATCH_TOKENS else 0)
        return Calibration(
            encoder=spec.name,
            fingerprint=spec.fingerprint,
            processor=read_processor().model,
            torch=torch.__version__,
            precision=best.precision,
            threads=best.threads,
            batch_tokens=best.batch_tokens,
            tokens_per_second=best.tokens_per_second,
            bytes_per_token=bytes_per_token,
            seconds=round(self._clock() - self._began, 2),
            measured=datetime.now(UTC).isoformat(timespec="seconds"),
            trials=tuple(self._trials),
            others=round(_Work.now().others_since(self._before), 3),
        )

    def _judge(self, model: Forward, precision: Precision, threads: int, reference: Matrix, best: Trial) -> Trial:
        """The trial of a cheaper precision, refused when it is slower or too far from float32."""
        ratio = self._pace / self._glance(model)
        if ratio > 1.5:  # two texts show it; emulated arithmetic would take a minute for more
            reason = f"it takes {ratio:.1f} times as long as float32 on this processor"
            self._trials.append(Trial(precision, threads, DEFAULT_BATCH_TOKENS, 0.0, 0.0, reason))
            return self._trials[-1]
        trial, _ = self._try(model, precision, threads, DEFAULT_BATCH_TOKENS, reference)
        if trial.cosine < LEAST_COSINE:
            reason = f"its cosine to float32 is {trial.cosine:.4f}, under {LEAST_COSINE}"
        elif trial.tokens_per_second < best.tokens_per_second:
            reason = f"it is slower than {best.precision}"
        else:
            return trial
        self._trials[-1] = replace(trial, refused=reason)
        return self._trials[-1]

    def _better(self, best: Trial, model: Forward, threads: int, budget: int, reference: Matrix) -> Trial:
        """The better of the best so far and one more way, if there is time to try it."""
        takes = budget / max(self._pace, best.tokens_per_second)
        if self._clock() - self._began + takes > _SECONDS:
            return best
        trial, _ = self._try(model, Precision(best.precision), threads, budget, reference)
        return trial if trial.tokens_per_second > 1.03 * best.tokens_per_second else best  # less is noise

    def _try(
        self, model: Forward, precision: Precision, threads: int, budget: int, reference: Matrix | None
    ) -> tuple[Trial, Matrix]:
        """Time the sample, as often as one full batch needs where a batch size is what is tried."""
        torch.set_num_threads(threads)
        copies = 1 if budget == DEFAULT_BATCH_TOKENS else -(-budget // (self._length * len(self._sample)))
        sequences = list(self._sample) * copies
        began = self._clock()
        rows = _embed(model, sequences, budget)
        speed = sum(map(len, sequences)) / (self._clock() - began)
        rows = rows[: len(self._sample)]
        cosine = 1.0 if reference is None else float((rows * reference).sum(1).min())
        self._trials.append(Trial(precision, threads, budget, round(speed, 1), round(cosine, 6)))
        return self._trials[-1], rows

    def _glance(self, model: Forward) -> float:
        """Tokens a second over two texts, after one that makes buffers and threads ready."""
        few = self._sample[:2]
        _embed(model, few[:1], DEFAULT_BATCH_TOKENS)
        began = self._clock()
        _embed(model, few, DEFAULT_BATCH_TOKENS)
        return sum(map(len, few)) / (self._clock() - began)


@dataclass(frozen=True, slots=True)
class _Work:
    """Processor seconds so far, of all programs and of this one, and the time of the day."""

    everyone: float
    own: float
    wall: float

    @classmethod
    def now(cls) -> _Work:
        machine, own = psutil.cpu_times(), psutil.Process().cpu_times()
        idle = machine.idle + getattr(machine, "iowait", 0.0)
        return cls(sum(machine) - idle, own.user + own.system, time.monotonic())

    def others_since(self, before: _Work) -> float:
        """The share of all processors that other programs took since then."""
        theirs = (self.everyone - before.everyone) - (self.own - before.own)
        there = (self.wall - before.wall) * (psutil.cpu_count() or 1)
        return min(max(theirs / max(there, 1e-6), 0.0), 1.0)


def sample_sequences(tokenizer: TextTokenizer, length: int) -> Sequence[TokenIds]:
    """Some texts of about ``length`` tokens in several languages, each from other sentences; no two of one length."""
    sequences = []
    for at in range(_SAMPLE_COUNT):
        text = " ".join(_rotated(at))
        ids = tokenizer.ids([text])[0]
        while len(ids) < length:
            text += " " + text
            ids = tokenizer.ids([text])[0]
        keep = length - at
        sequences.append(np.concatenate([ids[: keep - 1], ids[-1:]]))
    return sequences


def _rotated(by: int) -> Iterator[str]:
    for at in range(len(_SENTENCES)):
        yield _SENTENCES[(3 * at + by) % len(_SENTENCES)]


def _embed(model: Forward, sequences: Sequence[TokenIds], budget: int) -> Matrix:
    rows = None
    for batch in fill_batches(sequences, TokenBudget(budget), padded=model.padded):
        part = model.embed(batch).numpy()
        rows = np.empty((len(sequences), part.shape[1]), dtype=np.float32) if rows is None else rows
        rows[batch.rows] = part
    assert rows is not None  # there is always a sample
    return rows
