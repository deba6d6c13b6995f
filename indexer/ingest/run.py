"""``add`` and ``sync``: what lies on disk and what the library holds, brought together."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from indexer.chunk import TokenCounter
from indexer.datatypes import Encoder, Estimate, FileReport, RunReport, Status, StoredDocument
from indexer.ingest.events import ReadFunction, Stages, UnpackFunction
from indexer.ingest.pipeline import Pipeline
from indexer.ingest.plan import Plan, make_plan
from indexer.ingest.progress import Meter, Progress
from indexer.ingest.reading import ReadPlan
from indexer.ingest.sample import choose, extrapolate
from indexer.ingest.scan import scan
from indexer.ingest.sources import checked_roots, is_there, make_sources
from indexer.library import Library
from indexer.store import FoundFile
from indexer.windows import Windowing

if TYPE_CHECKING:
    from indexer.parse import ReadOptions

UNREAD = frozenset(
    {Status.FAILED, Status.ENCRYPTED, Status.NEEDS_OCR, Status.TIMED_OUT, Status.TOO_LARGE, Status.UNSUPPORTED}
)
"""What counts as failed in a run: there may be text that a search will not find."""


@dataclass(frozen=True, slots=True)
class AddOptions:
    """How a run is made. ``again`` names statuses whose unchanged files are looked into once more.

    ``wait`` is how many seconds to wait for another writer (negative: for ever); ``sample`` takes so many of the files
    to see what all would cost.
    """

    reading: ReadOptions
    again: frozenset[Status] = frozenset()
    wait: float = 0.0
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of a run while it goes on: a moment of progress, a file that is dealt with; and how to stop it."""

    progress: Callable[[Progress], None] = lambda _: None
    file: Callable[[FileReport, Stages], None] = lambda report, stages: None
    stopping: threading.Event = field(default_factory=threading.Event)


def add(
    library: Library,
    paths: Sequence[str],
    options: AddOptions,
    listener: Listener | None = None,
    read: ReadFunction | None = None,
) -> RunReport:
    """Bring files and folders into a library, and remember them as sources for ``sync``.

    Files that are as they were cost a look at their size and time; what vanished below a path is removed. One bad file
    is one line in the report. Raises LongdocError when a path does not exist or the library cannot be written.
    """
    roots = checked_roots(library, paths)
    with library.write_lock(options.wait):
        if not options.sample:
            make_sources(library, roots)
        return Run(library, options, listener or Listener(), read).over(roots)


def sync(
    library: Library,
    options: AddOptions,
    listener: Listener | None = None,
    read: ReadFunction | None = None,
) -> RunReport:
    """Look through every source again. One that is not there now (a disk not mounted) keeps its documents."""
    with library.write_lock(options.wait):
        roots = [source.path for source in library.store.sources()]
        absent = [root for root in roots if not is_there(root)]
        run = Run(library, options, listener or Listener(), read)
        run.warnings.extend(
            f"{root} is not there: its documents are kept. `longdoc remove {root}` removes them." for root in absent
        )
        return run.over([root for root in roots if root not in absent])


class Run:
    """One run over roots: the plan, the pipeline, and the report. The caller holds the library's writer lock."""

    def __init__(
        self, library: Library, options: AddOptions, listener: Listener, read: ReadFunction | None = None
    ) -> None:
        self._library, self._options, self._listener = library, options, listener
        self._read = read or _reader()
        self._everything: tuple[FoundFile, ...] = ()
        self._started = time.monotonic()
        self._began = datetime.now(UTC).isoformat(timespec="seconds")
        self._reports: list[FileReport] = []
        self._updated: set[str] = set()
        self._encoded_tokens, self._cost = 0, (0.0, 0.0)
        self.warnings: list[str] = []

    def over(self, roots: Sequence[str], hold: Collection[str] = ()) -> RunReport:
        """Bring what lies under the roots and the library together; paths to ``hold`` are left as they are."""
        found = scan(roots, [str(self._library.directory)])
        self._everything = found.files
        self.warnings.extend(f"{one.path} could not be looked at: {one.reason}." for one in found.unreadable)
        if self._options.sample:
            found = replace(found, files=choose(found.files, self._options.sample))
        plan = make_plan(self._library.store, roots, found, self._options.again)
        if self._options.sample:
            plan = replace(plan, gone=(), warnings=())
        elif hold:
            plan = plan.without(hold)
        self.warnings.extend(plan.warnings)
        for unchanged in plan.unchanged:
            self._told(unchanged, Stages())
        self._updated = {path for task in plan.tasks for path in plan.behind[task.file.path]}
        if plan.tasks:
            self._pipeline(plan)
        if not self._listener.stopping.is_set():
            self._remove(plan)
        report = self._report()
        if len(report.files) > report.unchanged:
            self._library.store.record_run(self._began, report)
        return report

    def _pipeline(self, plan: Plan) -> None:
        encoder = self._library.encoder
        meter = Meter(task.file for task in plan.tasks)
        pipeline = Pipeline(
            self._library.store,
            encoder,
            meter,
            self._told,
            lambda: self._listener.progress(meter.progress()),
        )
        try:
            pipeline.run(plan.tasks, self._read_plan(encoder), self._listener.stopping)
        finally:
            self._encoded_tokens, self._cost = pipeline.encoded_tokens, meter.cost()

    def _read_plan(self, encoder: Encoder) -> ReadPlan:
        store, recipe = self._library.store, self._library.store.recipe

        def known(sha256: str) -> StoredDocument | None:
            document = store.find_by_sha256(sha256)
            return None if document is None or document.status in self._options.again else document

        def at_path(path: str) -> int | None:
            file = store.file(path)
            return None if file is None else file.document_id

        count: TokenCounter = encoder.count_tokens
        limit = min(recipe.chunk_tokens, encoder.max_tokens)
        return ReadPlan(
            read=self._read,
            unpack=_unpacker(),
            options=self._options.reading,
            count_tokens=count,
            chunk_tokens=limit,
            chunk_minimum=recipe.chunk_minimum,
            windowing=Windowing.of(recipe, encoder),
            known=known,
            at_path=at_path,
        )

    def _told(self, report: FileReport, stages: Stages) -> None:
        self._reports.append(report)
        self._listener.file(report, stages)

    def _remove(self, plan: Plan) -> None:
        """Forget paths where nothing lies any more; a document that lies elsewhere too has only moved."""
        met = {report.path for report in self._reports}
        gone = [file.path for file in plan.gone]
        gone.extend(path for task in plan.tasks for path in plan.behind[task.file.path] if path not in met)
        for path in gone:
            if (document_id := self._library.store.unlink(path)) is not None:
                self._told(FileReport(path, Status.REMOVED, document_id=document_id), Stages())

    def _report(self) -> RunReport:
        count = dict.fromkeys(("added", "updated", "unchanged", "failed", "removed"), 0)
        for report in self._reports:
            count[self._counts_as(report)] += 1
        return RunReport(
            files=tuple(sorted(self._reports, key=lambda report: report.path)),
            **count,
            tokens=sum(report.tokens for report in self._reports if report.status is not Status.UNCHANGED),
            encoded_tokens=self._encoded_tokens,
            seconds=time.monotonic() - self._started,
            peak_rss_mb=peak_rss_mb(),
            warnings=tuple(self.warnings),
            stopped=self._listener.stopping.is_set(),
            estimate=self._estimate() if self._options.sample else None,
        )

    def _estimate(self) -> Estimate:
        """What all the files would cost, by this run's pace, or by the last one's when nothing had to be encoded."""
        store, (once, each) = self._library.store, self._cost
        if not self._encoded_tokens:
            last = next((run for run in reversed(store.runs()) if run.encoded_tokens), None)
            once, each = (0.0, last.seconds / last.encoded_tokens) if last is not None else (0.0, 0.0)
        kept = sum(document.tokens for document in store.documents())
        told = extrapolate(self._everything, self._reports, each, store.counts().bytes / max(kept, 1))
        return replace(told, seconds=once + told.seconds)

    def _counts_as(self, report: FileReport) -> str:
        if report.status in (Status.UNCHANGED, Status.REMOVED):
            return report.status.value
        if report.status in UNREAD:
            return "failed"
        return "updated" if report.path in self._updated else "added"


def peak_rss_mb() -> float:
    """The most memory this process has held so far, in MB of 10^6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _reader() -> ReadFunction:
    from indexer.parse import read

    return read


def _unpacker() -> UnpackFunction:
    from indexer.parse import unpack

    return unpack
