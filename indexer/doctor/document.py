"""One document, layer by layer: input, environment, parameters, model on a sample, then the whole."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from indexer.chunk import chunk_pages
from indexer.datatypes import Chunk, Document, Encoder, Page
from indexer.doctor.inputs import encoding_findings, raw_findings, read_findings
from indexer.doctor.report import Diagnosis, Finding, Level, judge, worst
from indexer.machine import Cores, memory_limit, read_cores
from indexer.parse import ReadOptions, read
from indexer.settings import Settings

SAMPLE_CHUNKS = 16
_LONG_ENOUGH = 2.0  # seconds from which a pace says something
Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Measured:
    """What encoding some chunks took: seconds, tokens, and processor use in cores."""

    chunks: int
    tokens: int
    seconds: float
    cores: float
    peak_mb: float

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class DocumentDiagnosis:
    """The lines of one document's examination and the layer where it goes wrong first (None: nowhere)."""

    path: Path
    diagnosis: Diagnosis
    chars: int
    chunks: int
    sample: Measured | None
    whole: Measured | None

    @property
    def culprit(self) -> str | None:
        """The first layer with a failure, else the first with a warning."""
        for level in (Level.FAIL, Level.WARN):
            if found := self.diagnosis.at(level):
                return found[0].layer
        return None


@dataclass(frozen=True, slots=True)
class _Read:
    document: Document
    chunks: list[Chunk]
    read_seconds: float
    chunk_seconds: float


def examine_document(
    path: Path, settings: Settings, encoder: Encoder, announce: Announce = lambda _line: None
) -> DocumentDiagnosis:
    """Walk one document through every layer; ``announce`` is told what is being done. Nothing is stored."""
    announce("reading")
    findings = list(raw_findings(path))
    result = _read(path, settings, encoder)
    if result.document.media_type.startswith("text/"):
        findings += encoding_findings(path)
    findings += read_findings(result.document, result.read_seconds)
    findings += environment_findings(read_cores(), memory_limit())
    findings += parameter_findings(settings, encoder, result.chunks, result.chunk_seconds)
    sample = whole = None
    if result.chunks:
        announce(f"encoding a sample of {min(SAMPLE_CHUNKS, len(result.chunks))} chunks")
        encoder.encode_documents(["warming up"])
        sample = measure(encoder, result.chunks[:SAMPLE_CHUNKS])
        findings.append(model_finding("a sample", sample))
        announce(f"encoding all {len(result.chunks)} chunks, about {_estimate(sample, result.chunks):.0f} seconds")
        whole = measure(encoder, result.chunks)
        findings.append(model_finding("the whole", whole, before=sample))
    return DocumentDiagnosis(path, Diagnosis(tuple(findings)), result.document.chars, len(result.chunks), sample, whole)


def _read(path: Path, settings: Settings, encoder: Encoder) -> _Read:
    start = time.perf_counter()
    pages: list[Page] = []
    with read(path, ReadOptions.from_settings(settings)) as reading:
        pages.extend(reading)
        document = reading.document
    read_done = time.perf_counter()
    chunks = list(
        chunk_pages(pages, encoder.count_tokens, chunk_tokens=settings.chunk_tokens, minimum=settings.chunk_minimum)
    )
    return _Read(document, chunks, read_done - start, time.perf_counter() - read_done)


def environment_findings(cores: Cores, limit: int | None) -> Iterator[Finding]:
    """Whether other work takes the machine's time or memory right now."""
    load = psutil.getloadavg()[0]
    busy = (
        "Other programs keep the processor busy: figures below are slower than they would be."
        if load > cores.logical
        else ""
    )
    yield judge("environment", "load", f"{load:.1f} processes on {cores.logical} hardware threads", warn=busy)
    memory = psutil.virtual_memory()
    usable = min(memory.available, limit or memory.available)
    tight = "Little memory is free: close other programs, or lower LONGDOC_MEMORY." if usable < 1 << 30 else ""
    yield judge("environment", "memory", f"{usable / (1 << 30):.1f} GiB usable", warn=tight)


def parameter_findings(
    settings: Settings, encoder: Encoder, chunks: Sequence[Chunk], seconds: float
) -> Iterator[Finding]:
    """Threads, batches, the window and how full the chunks are."""
    threads, batch = settings.threads or "auto", settings.batch_tokens or "auto"
    yield judge("parameters", "settings", f"threads {threads}, precision {settings.precision}, batch tokens {batch}")
    longest = max((chunk.tokens for chunk in chunks), default=0)
    mean = sum(chunk.tokens for chunk in chunks) / max(len(chunks), 1)
    over = f"Set chunk_tokens to {encoder.max_tokens} or less." if longest > encoder.max_tokens else ""
    words = f"{len(chunks)} of {settings.chunk_tokens} tokens at most (mean {mean:.0f}, longest {longest}), "
    words += f"cut in {seconds:.2f} s, window {encoder.max_tokens}, no overlap"
    yield judge("parameters", "chunks", words, fail=over)


def measure(encoder: Encoder, chunks: Sequence[Chunk]) -> Measured:
    """Encode chunks and measure time, processor use and peak memory of this process."""
    process = psutil.Process()
    before, start = process.cpu_times(), time.perf_counter()
    encoder.encode_documents([chunk.text for chunk in chunks])
    seconds, after = time.perf_counter() - start, process.cpu_times()
    used = after.user + after.system - before.user - before.system
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(len(chunks), sum(chunk.tokens for chunk in chunks), seconds, used / max(seconds, 1e-9), peak)


def _estimate(sample: Measured, chunks: Sequence[Chunk]) -> float:
    return sum(chunk.tokens for chunk in chunks) / max(sample.tokens_per_second, 1e-9)


def model_finding(what: str, measured: Measured, *, before: Measured | None = None) -> Finding:
    """What encoding took; the whole slower than half the sample's pace is a sign of memory or heat."""
    text = (
        f"{measured.chunks} chunks in {measured.seconds:.2f} s, {measured.seconds / measured.chunks:.3f} s a chunk, "
        f"{measured.tokens_per_second:,.0f} tokens a second, {measured.cores:.1f} cores busy, "
        f"peak {measured.peak_mb:.0f} MB"
    )
    slower = (
        before is not None
        and measured.seconds > _LONG_ENOUGH
        and measured.tokens_per_second < before.tokens_per_second / 2
    )
    warn = "The whole runs at less than half the sample's pace: memory is short, or the processor is busy or hot."
    return judge("model", what, text, warn=warn if slower else "")


def verdict(result: DocumentDiagnosis) -> str:
    """One sentence that names the layer where it goes wrong, or says that nothing does."""
    if result.culprit is None:
        return "Nothing is wrong with this document, the machine, the parameters or the model."
    first = next(
        finding
        for level in (Level.FAIL, Level.WARN)
        for finding in result.diagnosis.at(level)
        if finding.layer == result.culprit
    )
    bad = "goes wrong" if worst(result.diagnosis.findings) is Level.FAIL else "deserves a look"
    return f"It is the {result.culprit} that {bad}: {first.text}. {first.advice}"
