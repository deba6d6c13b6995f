"""Running ``longdoc add`` in a process of its own, as a person would, and what it says of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Added:
    """What a run of ``add`` reported, and the memory in use after each document (MB)."""

    report: dict[str, Any]
    rss_mb: list[float]
    encode_seconds: float


def add(folder: Path, *options: str, stub: bool = False) -> Added:
    """Add a folder to a library that is thrown away. ``stub``: without a model, to see the pipeline alone."""
    with tempfile.TemporaryDirectory() as library:
        command = [sys.executable, "-c", STUB] if stub else [sys.executable, "-m", "indexer"]
        done = subprocess.run(
            [*command, "--library", f"{library}/library", "--log-json", "add", str(folder), "--json", *options],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            check=False,
        )
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr[-2000:])
    records = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    files = [record for record in records if record["event"] == "file"]
    return Added(
        json.loads(done.stdout),
        [record["rss_mb"] for record in files],
        sum(record["stages"]["encode"] for record in files),
    )


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
