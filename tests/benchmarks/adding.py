"""Running ``longdoc add`` in a process of its own, as a person would, and what it says of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

STUB = """
import sys
import indexer.encode
from tests.fakes import FakeEncoder
encoder = FakeEncoder(dimension=384, batch=32)
encoder.encoded = type("Nothing", (), {"extend": lambda self, texts: None})()
indexer.encode.load_encoder = indexer.encode.describe_encoder = lambda *_, **__: encoder
from indexer.cli import main
sys.exit(main(sys.argv[1:]))
"""

BUSY = """
import sys, time, types
import indexer.ingest.encoding
indexer.ingest.encoding.time = types.SimpleNamespace(perf_counter=time.thread_time)
from indexer.cli import main
sys.exit(main([*sys.argv[1:], "--threads", "1"]))
"""


@dataclass(frozen=True)
class Added:
    """What a run of ``add`` reported, and the memory in use after each document (MB).

    ``tree_mb`` is the highest sum of the resident memory of the process and its readers, looked at five times a second;
    what they share counts for each of them.
    """

    report: dict[str, Any]
    rss_mb: list[float]
    tree_mb: float
    encode_seconds: float


def add(folder: Path, *options: str, stub: bool = False, busy: bool = False) -> Added:
    """Add a folder to a library that is thrown away. ``stub``: without a model, to see the pipeline alone.

    ``busy``: for a machine with other work, the encoder has one thread and its seconds are that thread's own, of the
    processor.
    """
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, *(["-c", STUB] if stub else ["-c", BUSY] if busy else ["-m", "indexer"])]
        library, printed, logged = (Path(place) / name for name in ("library", "printed", "logged"))
        with printed.open("wb") as output, logged.open("wb") as errors:
            child = subprocess.Popen(
                [*command, "--library", str(library), "--log-json", "add", str(folder), "--json", *options],
                stdout=output,
                stderr=errors,
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            )
            tree_mb = _watch(child)
        lines = logged.read_text().splitlines()
        if child.returncode not in (0, 3):
            raise RuntimeError("\n".join(lines)[-2000:])
        report = json.loads(printed.read_text())
    records = [json.loads(line) for line in lines if line.startswith("{")]
    files = [record for record in records if record["event"] == "file"]
    return Added(
        report,
        [record["rss_mb"] for record in files],
        tree_mb,
        sum(record["stages"]["encode"] for record in files),
    )


def _watch(child: subprocess.Popen[bytes]) -> float:
    """Wait for a process; the highest sum of its and its children's resident memory, in MB."""
    process, highest = psutil.Process(child.pid), 0
    while child.poll() is None:
        total = 0
        with suppress(psutil.NoSuchProcess):
            for one in (process, *process.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    total += one.memory_info().rss
        highest = max(highest, total)
        time.sleep(0.2)
    return highest / 1e6


def write_json(path: Path | None, name: str, rows: list[dict[str, Any]]) -> None:
    """Keep a benchmark's figures."""
    if path is not None:
        path.write_text(json.dumps({"benchmark": name, "rows": rows}, indent=2), encoding="utf-8")
        print(f"written to {path}")


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print figures as a table."""
    names = list(rows[0])
    cells = [names, *([_shown(row[name]) for name in names] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(names))]
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), flush=True)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 10 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
