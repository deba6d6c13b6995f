"""One document, layer by layer: input, environment, parameters, model on a sample, then the whole."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from indexer.chunk import chunk_pages
from indexer.datatypes import Chunk, Document, Encoder
from indexer.doctor.inputs import encoding_findings, raw_findings, read_findings
from indexer.doctor.report import Diagnosis, Finding, Level, judge, worst
from indexer.machine import Cores, memory_limit, read_cores
from indexer.parse import ReadOptions, read
from indexer.settings import Settings

SAMPLE_CHUNKS = 16
WHOLE_SECONDS = 300.0
_LONG_ENOUGH = 2.0  # seconds from which a pace says something
_TELL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What encoding some chunks took: seconds, tokens, processor use in cores; ``expected`` seconds for all of them."""

    chunks: int
    tokens: int
    seconds: float
    cores: float
    peak_mb: float
    of: int
    expected: float

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class DocumentDiagnosis:
    """The lines of one document's examination and the layer where it goes wrong first (None: nowhere).

    A document of few chunks is encoded as a whole at once, without a ``sample``.
    """

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
class Listener:
    """Who is told while a document is examined: of what is being done, and of every finding as soon as it is known."""

    announce: Callable[[str], None] = lambda _line: None
    found: Callable[[Finding], None] = lambda _finding: None


_SILENT = Listener()


@dataclass(frozen=True, slots=True)
class _Read:
    document: Document
    chunks: list[Chunk]
    read_seconds: float
    chunk_seconds: float


def examine_document(
    path: Path,
    settings: Settings,
    encoder: Encoder,
    listener: Listener = _SILENT,
    *,
    seconds: float = WHOLE_SECONDS,
) -> DocumentDiagnosis:
    """Walk one document through every layer; nothing is stored. The whole is encoded for ``seconds`` at most."""
    findings: list[Finding] = []

    def note(some: Iterable[Finding]) -> None:
        for finding in some:
            findings.append(finding)
            listener.found(finding)

    listener.announce("reading")
    note(raw_findings(path))
    result = _read(path, settings, encoder)
    if result.document.media_type.startswith("text/"):
        note(encoding_findings(path))
    note(read_findings(result.document, result.read_seconds))
    note(environment_findings(read_cores(), memory_limit()))
    note(parameter_findings(settings, encoder, result.chunks, result.chunk_seconds))
    sample = whole = None
    if chunks := result.chunks:
        listener.announce("loading the encoder")
        encoder.encode_documents(["warming up"])
        expected = ""
        if len(chunks) > SAMPLE_CHUNKS:
            listener.announce(f"encoding a sample of {SAMPLE_CHUNKS} chunks")
            sample = measure(encoder, _spread(chunks))
            note([model_finding("a sample", sample)])
            all_seconds = sum(chunk.tokens for chunk in chunks) / max(sample.tokens_per_second, 1e-9)
            expected = f", about {all_seconds:.0f} seconds"
        listener.announce(f"encoding all {len(chunks):,} chunks{expected}")
        whole = measure(encoder, chunks, seconds, listener.announce)
        note([model_finding("the whole", whole, before=sample)])
    return DocumentDiagnosis(path, Diagnosis(tuple(findings)), result.document.chars, len(chunks), sample, whole)


def _spread(chunks: Sequence[Chunk]) -> list[Chunk]:
    """A few chunks from all over the document."""
    return list(chunks[:: max(1, len(chunks) // SAMPLE_CHUNKS)])[:SAMPLE_CHUNKS]


def _read(path: Path, settings: Settings, encoder: Encoder) -> _Read:
    start = time.perf_counter()
    with read(path, ReadOptions.from_settings(settings)) as reading:
        pages = list(reading)
        document = reading.document
    encoder.count_tokens(["warming up"])
    read_done = time.perf_counter()
    limit = min(settings.chunk_tokens, encoder.max_tokens)
    chunks = list(chunk_pages(pages, encoder.count_tokens, chunk_tokens=limit, minimum=settings.chunk_minimum))
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
    wide = (
        f"The encoder takes {encoder.max_tokens} tokens, so chunks are cut at that: set chunk_tokens to no more."
        if settings.chunk_tokens > encoder.max_tokens
        else ""
    )
    shared = f"share windows of {settings.window} tokens" if settings.window else "encoded one by one, no overlap"
    words = f"limit {settings.chunk_tokens} tokens, the encoder takes {encoder.max_tokens}; {shared}"
    yield judge("parameters", "window", words, warn=wide)
    tokens = [chunk.tokens for chunk in chunks]
    text = f"{len(tokens):,}, cut in {seconds:.2f} s"
    if tokens:
        text += f", {sum(tokens):,} tokens: mean {sum(tokens) / len(tokens):.0f}, longest {max(tokens)}"
    yield judge("parameters", "chunks", text)


def measure(
    encoder: Encoder,
    chunks: Sequence[Chunk],
    limit: float = float("inf"),
    announce: Callable[[str], None] = lambda _line: None,
) -> Measured:
    """Encode chunks, for ``limit`` seconds at most: time, processor use, and peak memory of this process."""
    process = psutil.Process()
    before, start = process.cpu_times(), time.perf_counter()
    done = tokens = 0
    seconds = expected = told = 0.0
    every = sum(chunk.tokens for chunk in chunks)
    for batch in encoder.encode_in_batches([chunk.text for chunk in chunks]):
        done, tokens = done + len(batch.positions), tokens + sum(chunks[at].tokens for at in batch.positions)
        seconds = time.perf_counter() - start
        expected = seconds * every / max(tokens, 1)
        if seconds > limit:
            break
        if seconds - told > _TELL_SECONDS and done < len(chunks):
            told = seconds
            announce(f"{done:,} of {len(chunks):,} chunks, about {expected - seconds:.0f} s to go")
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(done, tokens, seconds, used / max(seconds, 1e-9), peak, len(chunks), expected)


def model_finding(what: str, measured: Measured, *, before: Measured | None = None) -> Finding:
    """What encoding took; the whole slower than half the sample's pace is a sign of memory or heat."""
    part = ""
    if measured.chunks < measured.of:
        part = f" of {measured.of:,} (stopped at the limit of time; all would take about {measured.expected:.0f} s)"
    text = (
        f"{measured.chunks:,}{part} chunks in {measured.seconds:.2f} s, "
        f"{measured.seconds / measured.chunks:.3f} s a chunk, "
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
    return f"It is the {result.culprit} that {bad}: {first.name}, {first.text}. {first.advice}"
