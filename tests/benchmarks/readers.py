"""Readers beside a writer for minutes: errors, wrong answers, and how soon a new document is found.

python -m tests.benchmarks.readers [--minutes 3] [--readers 8]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests import reading


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--readers", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="longdoc-readers-") as place:
        seen, committed = reading.play(Path(place), arguments.minutes * 60, arguments.readers)
    faults = [fault for one in seen for fault in one.faults]
    delays = np.array([when - committed[number] for one in seen for number, when in one.first_seen.items()])
    print(f"{len(committed)} documents written, {sum(one.searches for one in seen)} searches, {len(faults)} faults")
    p50, p95, most = np.percentile(delays, [50, 95, 100])
    print(f"a new document was first found after {p50:.2f} s (p50), {p95:.2f} s (p95), {most:.2f} s (longest)")
    print("\n".join(faults[:20]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
