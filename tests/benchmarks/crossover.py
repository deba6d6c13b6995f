"""From how many chunks codes are faster than comparing every row, and how many of the nearest of them to compare.

    python -m tests.benchmarks.crossover [--folder DIR] [--size 1000000] [--evaluated CACHE]

Uses the library of ``--size`` chunks that ``python -m tests.benchmarks.index --folder DIR`` has written and built.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from indexer.library import Library
from indexer.rowfile import RowFile
from indexer.vectors import VectorIndex
from tests.benchmarks.index import DIMENSION, Material, percentiles, settings_of, truth

COUNTS = (10_000, 20_000, 40_000, 80_000)
RESCORED = (500, 1000, 1500, 2000)


def compare(material: Material, count: int) -> dict[str, float]:
    """Milliseconds a query of both ways over the same rows, and what codes find of what exact search finds."""
    rows, ids = np.vstack(list(material.batches(count))), np.arange(1, count + 1)
    asked = material.asked()
    with tempfile.TemporaryDirectory() as place:
        file = RowFile(Path(place) / "rows", DIMENSION, "crossover")
        file.write(ids, rows)
        exact = VectorIndex(DIMENSION, lambda some: file.read(some)[0], flat_limit=count)
        codes = VectorIndex(DIMENSION, lambda some: file.read(some)[0], flat_limit=0)
        for index in (exact, codes):
            index.add(ids, rows)
        wanted = exact.search(asked, 10).ids
        found = {
            name: percentiles(lambda query, index=index: index.search(query, 10).ids, asked, wanted)
            for name, index in (("exact", exact), ("codes", codes))
        }
    return {"exact_ms": found["exact"]["p50_ms"], "codes_ms": found["codes"]["p50_ms"], **found["codes"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--evaluated", type=Path, metavar="CACHE")
    arguments = parser.parse_args()
    material = Material.load(arguments.folder, arguments.evaluated)
    for count in COUNTS:
        both = compare(material, count)
        times = f"exact {both['exact_ms']:.1f} ms, codes {both['codes_ms']:.1f} ms"
        print(f"{count:,} chunks: {times}, recall {both['recall@10']:.4f}", flush=True)
    place = arguments.folder / str(arguments.size)
    asked, wanted = material.asked(), truth(place, material, arguments.size)
    with Library.open(place, settings_of(place)) as library:
        index = library.vectors
        for rescored in RESCORED:
            found = percentiles(
                lambda query, width=rescored: index.search(query, 10, rescored=width).ids, asked, wanted
            )
            times = f"{found['p50_ms']:.1f} ms (p95 {found['p95_ms']:.1f})"
            print(f"{rescored:,} compared: {times}, recall {found['recall@10']:.4f}", flush=True)


if __name__ == "__main__":
    main()
