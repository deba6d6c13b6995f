"""How fast documents are read, and in how much memory: `python -m tests.benchmarks.read [PDF ...]`.

Pages a second of a generated 400-page PDF (and of the PDFs given) in this process and in the sandbox, interleaved; the
ratio of the two is what the sandbox costs. Then a 200 MB text file to its end, and the most memory the reader took.
Each pace is by the clock and, in brackets, by processor time, which other programs disturb less.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from reportlab.pdfgen.canvas import Canvas

from indexer.parse import ReadOptions, read, sandbox

ROUNDS = 3
PAGES = 400
TEXT_BYTES = 200 << 20
LINE = "The pump is delivered within thirty days of the order and paid for within thirty days of its delivery."


def book(path: Path, pages: int = PAGES) -> Path:
    """A PDF of full pages of text with running headers."""
    canvas = Canvas(str(path), pagesize=(595, 842))
    for number in range(1, pages + 1):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(60, 800, f"Handbook of pumps {number}")
        for line in range(40):
            canvas.drawString(60, 760 - 17 * line, f"{number}.{line} {LINE}"[:96])
        canvas.showPage()
    canvas.save()
    return path


@dataclass(frozen=True)
class Taken:
    """What one reading took: wall seconds, processor seconds of all processes, pages and characters read."""

    wall: float
    processor: float
    pages: int
    chars: int


def taken(path: Path, *, in_sandbox: bool) -> Taken:
    """Read a document and say what it took."""
    began, used = time.perf_counter(), processor_seconds()
    with read(path, ReadOptions(ocr="never", sandbox=in_sandbox)) as reading:
        chars = sum(len(page.text) for page in reading)
    return Taken(time.perf_counter() - began, processor_seconds() - used, reading.document.page_count or 0, chars)


def processor_seconds() -> float:
    """Processor time of this process and of the readers that are alive."""
    processes = [psutil.Process(), *(psutil.Process(worker.pid) for worker in sandbox.POOL._idle)]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def reader_memory() -> int:
    """Bytes that the idle readers hold now, the peak of the documents before where the system tells it."""
    peaks = [0]
    for worker in sandbox.POOL._idle:
        status = Path(f"/proc/{worker.pid}/status")
        if status.exists():
            line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            peaks.append(int(line.split()[1]) << 10)
        else:
            peaks.append(psutil.Process(worker.pid).memory_info().rss)
    return max(peaks)


def compare(path: Path) -> str:
    """A PDF's pages a second in this process and in the sandbox, by the clock and by processor time."""
    taken(path, in_sandbox=True)  # starts the reader, loads the language model
    taken(path, in_sandbox=False)
    inside, outside = [], []
    for _ in range(ROUNDS):
        inside.append(taken(path, in_sandbox=False))
        outside.append(taken(path, in_sandbox=True))
    pairs = list(zip(inside, outside, strict=True))
    return (
        f"{path.name}: {inside[0].pages} pages, in process {_pace(inside)}, in the sandbox {_pace(outside)}, ratio "
        f"{median(b.wall / a.wall for a, b in pairs):.2f} ({median(b.processor / a.processor for a, b in pairs):.2f}), "
        f"reader {reader_memory() >> 20} MB"
    )


def _pace(readings: list[Taken]) -> str:
    wall = median(one.pages / one.wall for one in readings)
    processor = median(one.pages / one.processor for one in readings)
    return f"{wall:.0f} pages/s ({processor:.0f} a processor second)"


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        for path in (book(Path(folder) / "book.pdf"), *map(Path, sys.argv[1:])):
            print(compare(path), flush=True)
        text = Path(folder) / "log.txt"
        with text.open("w") as file:
            for number in range(TEXT_BYTES // (len(LINE) + 12)):
                file.write(f"{number:010} {LINE}\n")
        one = taken(text, in_sandbox=True)
        share, millions = one.chars / text.stat().st_size, one.chars / 1e6
        pace = f"{millions / one.wall:.1f} M/s ({millions / one.processor:.1f} a processor second)"
        print(f"text: {share:.1%} of {millions:.0f} M characters, {pace}, reader {reader_memory() >> 20} MB")


if __name__ == "__main__":
    main()
