"""How fast documents are read, and in how much memory: `python -m tests.benchmarks.read [PDF ...]`.

Pages a second of a generated 400-page PDF (and of the PDFs given) in this process and in the sandbox, interleaved; the
ratio of the two is what the sandbox costs. Then a 200 MB text file to its end, and the most memory the reader took.
"""

from __future__ import annotations

import sys
import tempfile
import time
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


def read_seconds(path: Path, *, in_sandbox: bool) -> tuple[float, int, int]:
    """Wall seconds, pages and characters of one reading."""
    began = time.perf_counter()
    with read(path, ReadOptions(ocr="never", sandbox=in_sandbox)) as reading:
        chars = sum(len(page.text) for page in reading)
    return time.perf_counter() - began, reading.document.page_count or 0, chars


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
    """A PDF's pages a second in this process and in the sandbox."""
    read_seconds(path, in_sandbox=True)  # starts the reader, loads the language model
    read_seconds(path, in_sandbox=False)
    inside, outside, pages = [], [], 0
    for _ in range(ROUNDS):
        seconds, pages, _ = read_seconds(path, in_sandbox=False)
        inside.append(seconds)
        outside.append(read_seconds(path, in_sandbox=True)[0])
    ratio = median(b / a for a, b in zip(inside, outside, strict=True))
    return (
        f"{path.name}: {pages} pages, {pages / median(inside):.0f} pages/s in process, "
        f"{pages / median(outside):.0f} in the sandbox, time ratio {ratio:.2f}, reader {reader_memory() >> 20} MB"
    )


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        for path in (book(Path(folder) / "book.pdf"), *map(Path, sys.argv[1:])):
            print(compare(path), flush=True)
        text = Path(folder) / "log.txt"
        with text.open("w") as file:
            for number in range(TEXT_BYTES // (len(LINE) + 12)):
                file.write(f"{number:010} {LINE}\n")
        seconds, _, chars = read_seconds(text, in_sandbox=True)
        share, millions = chars / text.stat().st_size, chars / 1e6
        memory = reader_memory() >> 20
        print(f"text: {share:.1%} of {millions:.0f} M characters, {millions / seconds:.1f} M/s, reader {memory} MB")


if __name__ == "__main__":
    main()
