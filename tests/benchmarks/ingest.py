"""Whole ``add`` against the encoder alone on the same chunks, and the memory that ``add`` takes.

    python -m tests.benchmarks.ingest [--documents 6] [--rounds 2] [--full] [--json FILE]

In one process, in turns: the encoder over the folder's chunks, then `add` of that folder into a new library (reading in
the sandbox, chunking, storing beside the encoding). Then `longdoc add` once in a process of its own, for what loading
costs and for the peak of its memory. Goal: 85 % of the encoder's pace, and under 1 GB for the covidqa texts (--full).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from indexer.chunk import chunk_pages
from indexer.datatypes import Encoder
from indexer.encode import load_encoder
from indexer.ingest import AddOptions, add
from indexer.ingest.encoding import WAVE
from indexer.library import Library
from indexer.parse import ReadOptions, read
from indexer.settings import Settings, load_settings
from tests.benchmarks.adding import add as add_in_process, print_rows, write_json
from tests.benchmarks.material import real_folder


def chunks_of(folder: Path, encoder: Encoder) -> tuple[list[str], int]:
    """The distinct texts that ``add`` encodes for a folder, and their tokens."""
    texts: dict[str, int] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with read(path, ReadOptions()) as reading:
                texts.update((chunk.text, chunk.tokens) for chunk in chunk_pages(reading, encoder.count_tokens))
    return list(texts), sum(texts.values())


def encode_alone(encoder: Encoder, texts: list[str]) -> float:
    """Seconds that the encoder takes for all texts, a wave at a time as in the pipeline."""
    started = time.perf_counter()
    for first in range(0, len(texts), WAVE):
        for _ in encoder.encode_in_batches(texts[first : first + WAVE]):
            pass
    return time.perf_counter() - started


def add_whole(encoder: Encoder, folder: Path, settings: Settings) -> tuple[float, int]:
    """Seconds and encoded tokens of ``add`` into a new library, with the encoder loaded already."""
    with tempfile.TemporaryDirectory() as place:
        started = time.perf_counter()
        with Library.open(Path(place) / "library", settings, create=True, write=True, encoder=encoder) as library:
            report = add(library, [str(folder)], AddOptions(ReadOptions()))
        return time.perf_counter() - started, report.encoded_tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--full", action="store_true", help="all 98 covidqa texts and 24 PDFs")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    settings = load_settings()
    with tempfile.TemporaryDirectory() as place:
        folder = real_folder(Path(place) / "folder", 98 if options.full else options.documents)
        encoder = load_encoder(settings.encoder, settings=settings)
        texts, tokens = chunks_of(folder, encoder)
        encode_alone(encoder, texts[:64])
        rows = []
        for turn in range(options.rounds):
            alone = encode_alone(encoder, texts)
            whole, encoded = add_whole(encoder, folder, settings)
            rows.append(
                {
                    "round": turn + 1,
                    "tokens": encoded,
                    "encoder tokens/s": tokens / alone,
                    "add tokens/s": encoded / whole,
                    "share": (encoded / whole) / (tokens / alone),
                }
            )
            print_rows(rows[-1:])
        print(f"median share of the encoder's pace: {statistics.median(row['share'] for row in rows):.3f} (goal 0.85)")
        cold = add_in_process(folder)
        print(
            f"longdoc add in a process of its own: {cold.report['tokens_per_second']:,.0f} tokens/s with loading, "
            f"peak RSS {cold.report['peak_rss_mb']:,.0f} MB, {cold.tree_mb:,.0f} with its readers (goal: under 1,000)"
        )
        rows.append(
            {
                "cold": cold.report["tokens_per_second"],
                "peak_rss_mb": cold.report["peak_rss_mb"],
                "tree_mb": cold.tree_mb,
            }
        )
    write_json(options.json, "ingest", rows)


if __name__ == "__main__":
    main()
