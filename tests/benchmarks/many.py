"""Many short documents against few: memory must not grow with their number.

    python -m tests.benchmarks.many [--many 1000] [--few 50] [--full] [--encoder minilm] [--stub] [--json FILE]

Each count is added by `longdoc add` in a process of its own, which says its memory after every document. Goal: the peak
of many at most 1.1 times that of few. --full: 5,000 documents. --stub: without a model, the pipeline alone.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.benchmarks.adding import add, print_rows, write_json
from tests.benchmarks.material import long_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", type=int, default=1_000)
    parser.add_argument("--few", type=int, default=50)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--stub", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for count in (options.few, 5_000 if options.full else options.many):
        with tempfile.TemporaryDirectory() as place:
            for number in range(count):
                (Path(place) / f"{number:05}.txt").write_text(long_text(400, seed=number))
            added = add(Path(place), "--encoder", options.encoder, stub=options.stub)
        rss = added.rss_mb
        rows.append(
            {
                "documents": count,
                "tokens": added.report["tokens"],
                "tokens/s": added.report["tokens_per_second"],
                "documents/s": count / added.report["seconds"],
                "RSS at half MB": rss[len(rss) // 2],
                "RSS at end MB": rss[-1],
                "peak RSS MB": added.report["peak_rss_mb"],
                "with readers MB": added.tree_mb,
            }
        )
    print_rows(rows)
    print(f"peak of many to peak of few: {rows[1]['peak RSS MB'] / rows[0]['peak RSS MB']:.3f} (goal: at most 1.1)")
    write_json(options.json, "many", rows)


if __name__ == "__main__":
    main()
