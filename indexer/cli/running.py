"""What a person sees of a run while it goes on and when it ends: a bar or log records, a summary, the JSON document."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
import psutil

from indexer.cli.documents import totals
from indexer.cli.output import ExitCode, clipped, near, print_json, say, shown
from indexer.cli.waiting import record
from indexer.datatypes import FileReport, RunReport, Status

if TYPE_CHECKING:
    from types import FrameType

    from indexer.duplicates import Overlap
    from indexer.ingest import Progress, Stages

_RECORD_SECONDS = 1.0
_LISTED = 20
_SLOWEST = 3


class Bar:
    """A progress bar on a terminal; nothing at all where stderr is none or the person asked for quiet."""

    def __init__(self, *, enabled: bool) -> None:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own: the run tells the bar often enough
        self._bar = tqdm(
            total=1.0,
            disable=not (enabled and sys.stderr.isatty()),
            bar_format="{percentage:3.0f}% |{bar:20}| {desc}",
            file=sys.stderr,
            dynamic_ncols=True,
            leave=False,
            mininterval=0.2,
        )

    def progress(self, moment: Progress) -> None:
        """Show a moment of the run."""
        done = moment.bytes_done / moment.bytes_total if moment.bytes_total else 0.0
        pace = f"{moment.tokens_per_second:,.0f} tokens/s" if moment.tokens else "reading"
        left = "" if moment.seconds_left is None else f", {duration(moment.seconds_left)} left"
        self._bar.n = min(done, 1.0)
        name = clipped(shown(moment.path.rsplit("/", 1)[-1]), 30)
        self._bar.set_description_str(
            f"{moment.documents_done:,}/{moment.documents_total:,} documents, {pace}{left}  {name}",
            refresh=False,
        )
        self._bar.update(0)

    def file(self, report: FileReport, stages: Stages) -> None:
        """Nothing: the summary tells of files."""

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()


class Lines:
    """A sentence for each file that is dealt with, for a run that has no end."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def progress(self, moment: Progress) -> None:
        """Nothing: files are told of when they are finished."""

    def file(self, report: FileReport, stages: Stages) -> None:
        """Say what became of a file, unless it is as it was."""
        if report.status is not Status.UNCHANGED:
            say(f"{time.strftime('%H:%M:%S')}  {_became(report)}", quiet=self._quiet)

    def done(self, report: RunReport) -> None:
        """Say what is to be known of a round."""
        for warning in report.warnings:
            say(f"Warning: {warning}")


class Records:
    """One JSON record a line on stderr: progress every second, every file, the end."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._last = 0.0

    def progress(self, moment: Progress) -> None:
        """Write a moment, at most one a second."""
        if time.monotonic() - self._last < _RECORD_SECONDS:
            return
        self._last = time.monotonic()
        record(
            "progress",
            file=moment.path,
            files_done=moment.documents_done,
            files_total=moment.documents_total,
            bytes_done=moment.bytes_done,
            bytes_total=moment.bytes_total,
            tokens=moment.tokens,
            tokens_per_second=round(moment.tokens_per_second, 1),
            seconds=round(moment.seconds, 1),
            seconds_left=None if moment.seconds_left is None else round(moment.seconds_left),
        )

    def file(self, report: FileReport, stages: Stages) -> None:
        """Write what became of a file, with the seconds of each stage and the memory in use."""
        record(
            "file",
            **_file_json(report),
            id=report.document_id,
            tokens=report.tokens,
            remarks=list(report.remarks),
            stages={name: round(getattr(stages, name), 4) for name in ("read", "chunk", "encode", "store")},
            rss_mb=round(self._process.memory_info().rss / 1e6, 1),
        )

    def done(self, report: RunReport) -> None:
        """Write how the run ended."""
        whole = run_json(report)
        del whole["documents"]
        record("done", **whole, stopped=report.stopped, warnings=list(report.warnings))

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def stoppable(stopping: threading.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the run after the batch in hand; a second Ctrl-C ends it at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_json(report: RunReport, overlaps: Mapping[str, Overlap] = MappingProxyType({})) -> dict[str, Any]:
    """A run as the contract has it; a document that the library had much of already says so besides."""
    whole = {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "failed": report.failed,
        "removed": report.removed,
        "documents": [_file_json(file) | _overlap_json(overlaps.get(file.path)) for file in report.files],
        "tokens": report.tokens,
        "seconds": round(report.seconds, 3),
        "tokens_per_second": round(report.tokens_per_second, 1),
        "peak_rss_mb": round(report.peak_rss_mb, 1),
    }
    return whole if report.estimate is None else whole | {"estimate": asdict(report.estimate)}


def exit_code(report: RunReport) -> ExitCode:
    """0 when all is well, 3 when files failed, 1 when the run was stopped before its end."""
    if report.stopped:
        return ExitCode.FAILED
    return ExitCode.SOME_FAILED if report.failed else ExitCode.DONE


def tell(report: RunReport, overlaps: Mapping[str, Overlap], *, as_json: bool, quiet: bool, again: str) -> None:
    """Print a run: JSON on stdout when asked for, else what failed, what is there twice, what was slow, the totals."""
    if as_json:
        print_json(run_json(report, overlaps))
    for warning in report.warnings:
        say(f"Warning: {warning}")
    if report.stopped:
        say(f"Stopped. What is finished is kept; run `{again}` to go on where it stopped.")
    if as_json or quiet:
        return
    _tell_failed(report)
    for path, overlap in overlaps.items():
        click.echo(shown(f"  {near(path)}: {overlap.sentence}"))
    if len(slow := [file for file in report.files if file.seconds >= 1]) > _SLOWEST:
        slow.sort(key=lambda file: file.seconds, reverse=True)
        click.echo("Slowest:")
        for file in slow[:_SLOWEST]:
            click.echo(shown(f"  {duration(file.seconds):>9}  {file.tokens:>10,} tokens  {near(file.path)}"))
    click.echo(_totals(report))
    if (whole := report.estimate) is not None:
        click.echo(
            f"All {whole.files:,} files ({size(whole.bytes)}) would be about {whole.tokens:,} tokens: "
            f"{duration(whole.seconds)}, {size(whole.disk_bytes)} on disk, {report.peak_rss_mb:,.0f} MB of memory."
        )


def size(count: float) -> str:
    """Bytes in words a person reads at a glance."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("every count has a unit")


def duration(seconds: float) -> str:
    """Seconds in words a person reads at a glance."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _tell_failed(report: RunReport) -> None:
    failed = [file for file in report.files if not _is_well(file)]
    for file in failed[:_LISTED]:
        click.echo(shown(f"  {_became(file)}"))
    if len(failed) > _LISTED:
        click.echo(f"  ... and {len(failed) - _LISTED} more; `longdoc list --status STATUS` lists them.")


def _became(file: FileReport) -> str:
    reason = f": {file.reason}" if file.reason else ""
    return f"{file.status.value:<12} {near(file.path)}{reason}"


def _is_well(file: FileReport) -> bool:
    return file.status in (Status.INDEXED, Status.UNCHANGED, Status.REMOVED)


def _totals(report: RunReport) -> str:
    counts = Counter(file.status for file in report.files)
    words = totals(counts) or ("none finished yet" if report.stopped else "nothing to do")
    pace = ""
    if report.encoded_tokens:
        pace = f"; {report.encoded_tokens:,} tokens encoded, {report.tokens_per_second:,.0f} a second"
    files = "1 file" if len(report.files) == 1 else f"{len(report.files):,} files"
    return f"{files}: {words}; {duration(report.seconds)}{pace}; {report.peak_rss_mb:,.0f} MB of memory."


def _overlap_json(overlap: Overlap | None) -> dict[str, Any]:
    if overlap is None:
        return {}
    told = {"document": overlap.document_id, "share": round(overlap.share, 4), "relation": overlap.relation.value}
    return {"overlap": told}


def _file_json(file: FileReport) -> dict[str, Any]:
    return {
        "path": file.path,
        "status": file.status.value,
        "reason": file.reason,
        "pages": file.pages,
        "chars": file.chars,
        "chunks": file.chunks,
        "coverage": round(file.coverage, 4),
        "seconds": round(file.seconds, 3),
    }
